/// Every elementwise op of one or two integers, compiled: all pairs of 8 bits,
/// and of wider ones those at the ends of their range and around 0. Random
/// draws hardly ever meet the least integer.
#include "tests/property/Problem.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

using namespace sinter;
using namespace sinter::property;
using reference::HostValue;

template <typename Int> static std::vector<int64_t> ends() {
  using Limits = std::numeric_limits<Int>;
  std::vector<int64_t> numbers;
  if (sizeof(Int) == 1) {
    for (int64_t i = 0; i < 256; ++i)
      numbers.push_back(Limits::is_signed ? i - 128 : i);
    return numbers;
  }
  constexpr int64_t bits = 8 * sizeof(Int);
  for (int64_t i = 0; i < 4; ++i)
    numbers.insert(numbers.end(), {int64_t(Limits::min() + Int(i)),
                                   int64_t(Limits::max() - Int(i))});
  // u64 beyond the numbers of i64.
  numbers.push_back(int64_t(Limits::max() / 2 + 1));
  for (int64_t i = -9; i <= 9; ++i)
    numbers.push_back(i);
  numbers.insert(numbers.end(), {1000, -1000, bits - 1, bits, bits + 1});
  return numbers;
}

static std::vector<int64_t> numbersOf(DType dtype) {
  switch (dtype) {
  case DType::i8:
    return ends<int8_t>();
  case DType::u8:
    return ends<uint8_t>();
  case DType::i16:
    return ends<int16_t>();
  case DType::u16:
    return ends<uint16_t>();
  case DType::i32:
    return ends<int32_t>();
  case DType::u32:
    return ends<uint32_t>();
  case DType::u64:
    return ends<uint64_t>();
  default:
    return ends<int64_t>();
  }
}

static bool isElementwise(const PropertyRow &row, DType dtype) {
  auto takes = [&](const OperandRow &operand) {
    return (operand.dtypes & graph::dtypeBit(dtype)) != 0;
  };
  return isDrawable(row) && !row.variadic && row.operands.size() <= 2 &&
         (row.shapeRule == "elementwise" || row.shapeRule == "sameAsFirst" ||
          row.shapeRule == "cast") &&
         std::ranges::all_of(row.operands, takes);
}

/// The left numbers go along rows, the right ones along columns.
static HostValue spread(DType dtype, bool isRight) {
  std::vector<int64_t> numbers = numbersOf(dtype);
  auto count = int64_t(numbers.size());
  HostValue value(dtype, {count, count});
  for (int64_t i = 0; i < count * count; ++i)
    value.set(i, numbers[size_t(isRight ? i % count : i / count)]);
  return value;
}

static void check(const PropertyRow &row, DType dtype) {
  Rng rng(runSeed());
  Case call{&row, {}, {}};
  std::vector<OperandType> types;
  for (size_t i = 0; i < row.operands.size(); ++i) {
    call.operands.push_back(spread(dtype, i == 1));
    types.push_back({dtype, call.operands.back().dims});
  }
  auto attrs = drawAttrs(row, types, rng);
  ASSERT_TRUE(attrs);
  call.attrs = *attrs;
  auto problem = problemOf(call);
  ASSERT_TRUE(problem) << problem.error().message;
  auto expected = expectationOf(problem->graph, problem->inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  auto found = runCompiled(*problem, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(mismatchOf(*found, *expected), "");
}

namespace {
class IntegerEnds : public testing::TestWithParam<DType> {};
} // namespace

TEST_P(IntegerEnds, AreAsTheReferenceSays) {
  unsigned ops = 0;
  for (const PropertyRow &row : propertyTable())
    if (isElementwise(row, GetParam())) {
      SCOPED_TRACE(graph::info(row.op).name);
      check(row, GetParam());
      ++ops;
    }
  EXPECT_GE(ops, 30u);
}

INSTANTIATE_TEST_SUITE_P(DTypes, IntegerEnds,
                         testing::Values(DType::i8, DType::u8, DType::i16,
                                         DType::u16, DType::i32, DType::u32,
                                         DType::i64, DType::u64),
                         [](const testing::TestParamInfo<DType> &info) {
                           return std::string(sinter::name(info.param));
                         });
