/// Reductions of every length around the borders of what they are taken in:
/// lanes, chunks, tasks and the two phases of long ones. Each counts.
#include "runtime/graph/Builders.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "sinter/generated/builders/Elementwise.h"
#include "sinter/generated/builders/Reduce.h"
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

#include <gtest/gtest.h>

#include <vector>

using namespace sinter;
using graph::NodeRef;
using reference::HostTensor;
using reference::HostValue;

namespace {

constexpr int64_t rows = 2;

/// Lanes, canonical chunks, tasks of a first phase, what one phase serves.
constexpr int64_t borders[] = {1, 64, 8192, 65536, 262144, 327680};

/// Ones, but for the last element of each row.
HostTensor onesBefore(DType dtype, int64_t length, int64_t last) {
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

/// Each row's result, by a program for this length or for all.
std::vector<int64_t> reduced(Reduce reduce, const HostTensor &x, Dim length) {
  std::vector<Dim> dims{Dim(rows), length};
  NodeRef leaf = graph::NodeFactory::lazyLeaf(x.dtype, dims, DeviceId(), false);
  NodeRef result = reduce(leaf);
  graph::Slice slice = *graph::slice({&result, 1});
  auto program = property::compileGraph(slice.graph);
  EXPECT_TRUE(program) << program.error().message;
  auto found = property::runProgram(**program, {&x, 1});
  EXPECT_TRUE(found) << found.error().message;
  return found ? integersOf((*found)[0]) : std::vector<int64_t>();
}

void checkLength(int64_t length, Dim dim) {
  SCOPED_TRACE("length " + std::to_string(length));
  std::vector<int64_t> all(rows, length), last(rows, length - 1);
  std::vector<int64_t> larger(rows, 2);
  HostTensor ones = onesBefore(DType::i32, length, 1);
  EXPECT_EQ(reduced(sumOf, ones, dim), all);
  HostTensor reals = onesBefore(DType::f32, length, 1);
  EXPECT_EQ(reduced(sumOf, reals, dim), all);
  HostTensor rising = onesBefore(DType::f32, length, 2);
  EXPECT_EQ(reduced(placeOf, rising, dim), last);
  EXPECT_EQ(reduced(largestOf, rising, dim), larger);
}

} // namespace

TEST(ReductionLengths, EveryElementCounts) {
  for (int64_t border : borders)
    for (int64_t length : {border - 1, border, border + 1})
      if (length > 0)
        checkLength(length, Dim(length));
}

TEST(ReductionLengths, EveryElementCountsWhereTheLengthIsASymbol) {
  for (int64_t length : {63, 65, 8191, 8193, 65537, 262145})
    checkLength(length, Dim(length, dim_exprs::symbol(97, 0, length)));
}
