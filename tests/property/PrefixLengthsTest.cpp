/// Prefixes of every length around the borders of what they are taken in:
/// vectors, blocks, chunks, and vectors of chunks. Every element counts where
/// it should, and programs that know a length give the bits of those that do
/// not.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "sinter/generated/builders/Folds.h"
#include "sinter/generated/builders/Reduce.h"
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

namespace {

using Prefix = std::function<Result<NodeRef>(const NodeRef &x, bool reverse)>;

/// Rows of the last axis, and columns of another: one, few, and some of more
/// than one vector.
struct Sides {
  int64_t before, after;
};
constexpr Sides allSides[] = {{3, 0}, {2, 1}, {1, 70}};

std::vector<int64_t> dimsOf(const Sides &sides, int64_t length) {
  if (sides.after == 0)
    return {sides.before, length};
  return {sides.before, length, sides.after};
}

HostTensor randoms(DType dtype, const std::vector<int64_t> &dims) {
  HostValue value(dtype, dims);
  std::mt19937_64 bits(dims[1] * 31 + int64_t(dims.size()));
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    auto number = int64_t(bits() % 2001) - 1000;
    if (value.isReal())
      value.set(i, double(number) / 256);
    else
      value.set(i, number);
  }
  return reference::encode(value);
}

/// A program of a prefix of tensors like x, or of those of every length.
std::shared_ptr<const runtime::Program> compile(const Prefix &prefix,
                                                const HostTensor &x,
                                                bool reverse, bool isSymbol) {
  std::vector<Dim> dims(x.dims.begin(), x.dims.end());
  if (isSymbol)
    dims[1] = Dim(x.dims[1], dim_exprs::symbol(97, 0, x.dims[1]));
  NodeRef leaf = graph::NodeFactory::lazyLeaf(x.dtype, dims, DeviceId(), false);
  NodeRef result = graph::ok(prefix(leaf, reverse));
  graph::Slice slice = *graph::slice({&result, 1});
  auto program = property::compileGraph(slice.graph);
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : nullptr;
}

HostTensor run(const std::shared_ptr<const runtime::Program> &program,
               const HostTensor &x) {
  if (!program)
    return {};
  auto found = property::runProgram(*program, {&x, 1});
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move((*found)[0]) : HostTensor();
}

/// What `add` makes of each line's elements so far.
std::vector<double> inOrder(const HostTensor &tensor, bool reverse,
                            double (*add)(double, double)) {
  HostValue x = reference::decode(tensor);
  int64_t length = x.dims[1], stride = x.dims.size() > 2 ? x.dims[2] : 1;
  std::vector<double> results(x.elements());
  for (int64_t i = 0; i < x.elements(); ++i) {
    if (i / stride % length != 0)
      continue;
    double state = 0;
    for (int64_t k = 0; k < length; ++k) {
      int64_t at = i + (reverse ? length - 1 - k : k) * stride;
      double element = x.isReal() ? x.reals[at] : double(x.ints[at]);
      state = k == 0 ? element : add(state, element);
      results[at] = state;
    }
  }
  return results;
}

/// How far elements are from what they should be, at most.
double errorOf(const HostTensor &tensor, const std::vector<double> &expected) {
  HostValue found = reference::decode(tensor);
  double most = 0;
  for (int64_t i = 0; i < found.elements(); ++i) {
    double element = found.isReal() ? found.reals[i] : double(found.ints[i]);
    double error = std::abs(element - expected[i]);
    most = error <= most ? most : std::isnan(error) ? HUGE_VAL : error;
  }
  return most;
}

double sumOf(double a, double b) { return a + b; }
double largerOf(double a, double b) { return std::max(a, b); }
double logSumOf(double a, double b) {
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

Prefix along(Result<NodeRef> (*op)(const NodeRef &, int64_t, bool)) {
  return [op](const NodeRef &x, bool reverse) { return op(x, 1, reverse); };
}

/// A prefix, of what, and how far from the right one it may be.
struct Case {
  Prefix prefix;
  DType dtype;
  double (*add)(double, double);
  double tolerance;
};
const Case cases[] = {
    {along(graph::cumsum), DType::i32, sumOf, 0},
    {along(graph::cummax), DType::f32, largerOf, 0},
    {along(graph::logcumsumexp), DType::f32, logSumOf, 1e-4},
};

/// Calls `check` with another case for each number, all sides and directions.
void forCases(size_t number,
              const std::function<void(const Case &, const Sides &,
                                       bool reverse)> &check) {
  for (const Sides &sides : allSides)
    for (bool reverse : {false, true}) {
      SCOPED_TRACE(std::to_string(sides.before) + " before, " +
                   std::to_string(sides.after) + " after, reverse " +
                   std::to_string(reverse));
      check(cases[number++ % std::size(cases)], sides, reverse);
    }
}

void checkLength(const Case &each, const HostTensor &x, bool reverse,
                 const std::shared_ptr<const runtime::Program> &program) {
  EXPECT_LE(errorOf(run(program, x), inOrder(x, reverse, each.add)),
            each.tolerance)
      << "length " << x.dims[1];
}

} // namespace

TEST(PrefixLengths, EveryElementCounts) {
  size_t number = 0;
  for (int64_t length : {1, 3, 33, 64, 65, 4097})
    forCases(number++, [&](const Case &each, const Sides &sides, bool reverse) {
      HostTensor x = randoms(each.dtype, dimsOf(sides, length));
      checkLength(each, x, reverse, compile(each.prefix, x, reverse, false));
    });
}

TEST(PrefixLengths, EveryElementCountsWhereTheLengthIsASymbol) {
  forCases(0, [&](const Case &each, const Sides &sides, bool reverse) {
    auto program = compile(each.prefix, randoms(each.dtype, dimsOf(sides, 2)),
                           reverse, true);
    for (int64_t length : {0, 1, 64, 65, 4096, 4097, 8193})
      checkLength(each, randoms(each.dtype, dimsOf(sides, length)), reverse,
                  program);
  });
}

TEST(PrefixLengths, EveryElementOfLongRowsCounts) {
  for (bool reverse : {false, true}) {
    HostTensor x = randoms(DType::i32, {1, 64 * 4096 + 1});
    checkLength(cases[0], x, reverse,
                compile(cases[0].prefix, x, reverse, false));
  }
}

TEST(PrefixLengths, KnownLengthsGiveTheBitsOfSymbols) {
  forCases(0, [&](const Case &, const Sides &sides, bool reverse) {
    Prefix sum = along(graph::cumsum);
    auto all =
        compile(sum, randoms(DType::f32, dimsOf(sides, 2)), reverse, true);
    for (int64_t length : {17, 20000}) {
      HostTensor x = randoms(DType::f32, dimsOf(sides, length));
      HostTensor known = run(compile(sum, x, reverse, false), x);
      HostTensor found = run(all, x);
      EXPECT_TRUE(property::sameBytes({&known, 1}, {&found, 1})) << length;
    }
  });
}
