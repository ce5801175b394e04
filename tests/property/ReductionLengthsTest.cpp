/// Reductions of every length around the borders of what they are taken in:
/// lanes, chunks, tasks and the two phases of long ones. Each counts.
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "sinter/generated/builders/Elementwise.h"
#include "sinter/generated/builders/Reduce.h"
#include "sinter/generated/builders/View.h"
#include "tests/property/Cases.h"
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

#include <gtest/gtest.h>

#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

namespace {

/// Few rows, and so many that a GPU's thread has short ones of its own.
constexpr int64_t fewRows = 2, manyRows = 1030;

/// Lanes, canonical chunks, tasks of a first phase, what one phase serves.
constexpr int64_t borders[] = {1, 64, 8192, 65536, 262144, 327680};

/// Ones, but for the last element of each row.
HostTensor onesBefore(DType dtype, int64_t rows, int64_t length, int64_t last) {
  HostValue value(dtype, {rows, length});
  for (int64_t i = 0; i < rows * length; ++i) {
    int64_t number = i % length == length - 1 ? last : 1;
    if (value.isReal())
      value.set(i, double(number));
    else
      value.set(i, number);
  }
  return reference::encode(value);
}

std::vector<int64_t> integersOf(const HostTensor &tensor) {
  HostValue value = reference::decode(tensor);
  if (value.isReal())
    return {value.reals.begin(), value.reals.end()};
  return value.ints;
}

using Reduce = NodeRef (*)(const NodeRef &x);

NodeRef sumOf(const NodeRef &x) {
  int64_t axes[] = {1};
  return graph::ok(graph::sum(x, axes, /*keepdims=*/false));
}
NodeRef largestOf(const NodeRef &x) {
  int64_t axes[] = {1};
  return graph::ok(graph::amax(x, axes, /*keepdims=*/false));
}
NodeRef placeOf(const NodeRef &x) {
  return graph::ok(graph::argmax(x, 1, /*keepdims=*/false));
}
/// By how much all elements are less than the largest: one sum needs another
/// reduction.
NodeRef lackOf(const NodeRef &x) {
  int64_t axes[] = {1};
  NodeRef largest = graph::ok(graph::amax(x, axes, /*keepdims=*/true));
  largest = graph::ok(graph::broadcast(largest, x->dims()));
  return sumOf(graph::ok(graph::sub(largest, x)));
}
/// By how much each element is more than the largest, which all of them need.
NodeRef excessOf(const NodeRef &x) {
  int64_t axes[] = {1};
  NodeRef largest = graph::ok(graph::amax(x, axes, /*keepdims=*/true));
  largest = graph::ok(graph::broadcast(largest, x->dims()));
  return graph::ok(graph::sub(x, largest));
}
/// The sum of each row's two halves, which other rows' lie between.
NodeRef sumAround(const NodeRef &x) {
  int64_t turn[] = {1, 0, 2}, axes[] = {0, 2};
  Dim rows = x->dims()[0], half(x->dims()[1].value / 2);
  std::vector<Dim> halves{rows, Dim(2), half};
  NodeRef parts = graph::ok(graph::reshape(x, halves));
  parts = graph::ok(graph::transpose(parts, turn));
  return graph::ok(graph::sum(parts, axes, /*keepdims=*/false));
}

/// Sums of elements and of their squares, after the mean: two levels, and
/// products that need not be rounded.
NodeRef spreadOf(const NodeRef &x) {
  int64_t axes[] = {1};
  NodeRef mean = graph::ok(graph::mean(x, axes, /*keepdims=*/true));
  NodeRef left =
      graph::ok(graph::sub(x, graph::ok(graph::broadcast(mean, x->dims()))));
  return sumOf(graph::ok(graph::mul(left, left)));
}

/// By a program for this length or for all.
std::vector<HostTensor> resultsOf(Reduce reduce, const HostTensor &x,
                                  Dim length) {
  std::vector<Dim> dims{Dim(x.dims[0]), length};
  NodeRef leaf = graph::NodeFactory::lazyLeaf(x.dtype, dims, DeviceId(), false);
  NodeRef result = reduce(leaf);
  graph::Slice slice = *graph::slice({&result, 1});
  auto program = property::compileGraph(slice.graph);
  EXPECT_TRUE(program) << program.error().message;
  auto found = property::runProgram(**program, {&x, 1});
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::vector<HostTensor>();
}

/// Each row's result.
std::vector<int64_t> reduced(Reduce reduce, const HostTensor &x, Dim length) {
  std::vector<HostTensor> found = resultsOf(reduce, x, length);
  return found.empty() ? std::vector<int64_t>() : integersOf(found[0]);
}

void checkLength(int64_t rows, int64_t length, Dim dim) {
  SCOPED_TRACE("rows " + std::to_string(rows) + ", length " +
               std::to_string(length));
  std::vector<int64_t> all(rows, length), last(rows, length - 1);
  std::vector<int64_t> larger(rows, 2);
  HostTensor ones = onesBefore(DType::i32, rows, length, 1);
  EXPECT_EQ(reduced(sumOf, ones, dim), all);
  HostTensor reals = onesBefore(DType::f32, rows, length, 1);
  EXPECT_EQ(reduced(sumOf, reals, dim), all);
  HostTensor rising = onesBefore(DType::f32, rows, length, 2);
  EXPECT_EQ(reduced(placeOf, rising, dim), last);
  EXPECT_EQ(reduced(largestOf, rising, dim), larger);
  EXPECT_EQ(reduced(lackOf, rising, dim), last);
}

} // namespace

TEST(ReductionLengths, EveryElementCounts) {
  for (int64_t border : borders)
    for (int64_t length : {border - 1, border, border + 1})
      if (length > 0)
        checkLength(fewRows, length, Dim(length));
}

TEST(ReductionLengths, EveryElementCountsWhereTheLengthIsASymbol) {
  for (int64_t length : {63, 65, 8191, 8193, 65537, 262145})
    checkLength(fewRows, length, Dim(length, dim_exprs::symbol(97, 0, length)));
}

/// Whoever takes the chunks of a sum takes its elements in one order.
TEST(ReductionLengths, SumsOfKnownLengthsHaveTheBitsOfUnknownOnes) {
  property::Rng rng(5);
  for (int64_t length : {8193, 20003, 65600}) {
    SCOPED_TRACE("length " + std::to_string(length));
    HostValue value(DType::f32, {fewRows, length});
    for (int64_t i = 0; i < value.elements(); ++i)
      value.set(i, property::drawReal(rng, -1, 1));
    HostTensor x = reference::encode(value);
    Dim symbol(length, dim_exprs::symbol(97, 0, length));
    for (Reduce reduce : {sumOf, spreadOf})
      EXPECT_TRUE(property::sameBytes(resultsOf(reduce, x, Dim(length)),
                                      resultsOf(reduce, x, symbol)));
  }
}

TEST(ReductionLengths, EveryElementOfShortRowsCounts) {
  for (int64_t length : {2, 3, 9, 16, 17, 25, 31, 32, 33})
    checkLength(manyRows, length, Dim(length));
}

TEST(ReductionLengths, EveryElementOfManyLongRowsCounts) {
  constexpr int64_t rows = 130;
  for (int64_t length : {2047, 2049, 4104, 8191, 8194, 12289}) {
    SCOPED_TRACE("length " + std::to_string(length));
    std::vector<int64_t> last(rows, length - 1), all(rows * length, -1);
    for (int64_t row = 0; row < rows; ++row)
      all[row * length + length - 1] = 0;
    for (DType dtype : {DType::f32, DType::f16}) {
      HostTensor rising = onesBefore(dtype, rows, length, 2);
      EXPECT_EQ(reduced(excessOf, rising, Dim(length)), all);
    }
    HostTensor rising = onesBefore(DType::f32, rows, length, 2);
    EXPECT_EQ(reduced(lackOf, rising, Dim(length)), last);
  }
}

TEST(ReductionLengths, EveryElementAroundOtherRowsCounts) {
  for (int64_t half : {1, 9, 64, 4096, 4097, 24608, 140000}) {
    SCOPED_TRACE("half " + std::to_string(half));
    std::vector<int64_t> all(fewRows, 2 * half + 1);
    HostTensor x = onesBefore(DType::f32, fewRows, 2 * half, 2);
    EXPECT_EQ(reduced(sumAround, x, Dim(2 * half)), all);
  }
}
