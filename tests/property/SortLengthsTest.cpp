/// Sorts of every length around the borders of what they are brought in order
/// by: runs, and pairs of runs. Equal elements, zeros and NaN among them.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/Reference.h"
#include "sinter/generated/builders/Sort.h"
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

namespace {

/// Few numbers, so that many are equal; both zeros and NaN in floats.
HostTensor randoms(DType dtype, const std::vector<int64_t> &dims) {
  HostValue value(dtype, dims);
  std::mt19937_64 bits(dims[0] * 31 + dims[1]);
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    auto number = int64_t(bits() % 41) - 20;
    if (!value.isReal())
      value.set(i, number);
    else if (number == 20)
      value.set(i, std::nan(""));
    else
      value.set(i, number == 19 ? -0.0 : double(number) / 4);
  }
  return reference::encode(value);
}

/// The first `kept` along an axis and where they were, beside the reference.
void check(DType dtype, std::vector<int64_t> dims, int64_t axis,
           bool descending, int64_t kept) {
  SCOPED_TRACE(testing::Message()
               << dims[0] << " x " << dims[1] << " along " << axis << ", "
               << kept << " of them, dtype " << int(dtype) << ", descending "
               << descending);
  HostTensor x = randoms(dtype, dims);
  NodeRef leaf = reference::leafOf(x);
  NodeRef results[] = {
      graph::ok(graph::sort(leaf, axis, descending, Dim(kept))),
      graph::ok(graph::argsort(leaf, axis, descending, Dim(kept)))};
  graph::Slice slice = *graph::slice(results);
  auto expected = reference::evaluate(slice.graph, {&x, 1});
  ASSERT_TRUE(expected) << expected.error().message;
  auto program = property::compileGraph(slice.graph);
  ASSERT_TRUE(program) << program.error().message;
  auto found = property::runProgram(**program, {&x, 1});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_TRUE(property::sameBytes(*found, *expected));
}

} // namespace

TEST(SortLengths, RowsAreInOrder) {
  bool descending = false;
  for (int64_t length : {1, 2, 7, 64, 65, 257, 1000}) {
    check(DType::f32, {3, length}, 1, descending, length);
    descending = !descending;
  }
  check(DType::f32, {2, 5000}, 1, /*descending=*/true, 5000);
}

TEST(SortLengths, TheFirstOfRowsAreInOrder) {
  for (int64_t kept : {1, 50, 64, 300})
    check(DType::f32, {2, 4099}, 1, /*descending=*/true, kept);
  check(DType::i32, {70, 8}, 1, /*descending=*/true, 2);
}

TEST(SortLengths, RowsOfEveryTypeAreInOrder) {
  for (DType dtype : {DType::bf16, DType::u8, DType::u32, DType::i64,
                      DType::u64, DType::f64}) {
    check(dtype, {2, 700}, 1, /*descending=*/true, 700);
    check(dtype, {300, 3}, 0, /*descending=*/false, 77);
  }
}
