/// Scatters at positions that all fibers have in common: they give the bits of
/// positions that each element has for itself, and the reference's numbers.
#include "runtime/graph/Builders.h"
#include "runtime/graph/Slice.h"
#include "runtime/reference/Reference.h"
#include "sinter/generated/builders/Folds.h"
#include "sinter/generated/builders/Gather.h"
#include "sinter/generated/builders/View.h"
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

using Scatter = Result<NodeRef> (*)(const NodeRef &x, const NodeRef &indices,
                                    const NodeRef &updates, int64_t axis);

HostTensor randoms(DType dtype, const std::vector<int64_t> &dims, int64_t below,
                   uint64_t seed) {
  HostValue value(dtype, dims);
  std::mt19937_64 bits(seed);
  for (int64_t i = 0, count = value.elements(); i < count; ++i) {
    auto number = int64_t(bits() % uint64_t(below));
    if (value.isReal())
      value.set(i, (double(number) - double(below) / 2) / 64);
    else
      value.set(i, number);
  }
  return reference::encode(value);
}

std::vector<HostTensor> run(const NodeRef &result,
                            const std::vector<NodeRef> &leaves,
                            const std::vector<HostTensor> &tensors) {
  graph::Slice slice = *graph::slice({&result, 1});
  auto program = property::compileGraph(slice.graph);
  EXPECT_TRUE(program) << program.error().message;
  if (!program)
    return {};
  auto found = property::runProgram(
      **program, reference::inputsOf(slice, leaves, tensors));
  EXPECT_TRUE(found) << found.error().message;
  return found ? *found : std::vector<HostTensor>();
}

/// Updates along an axis of x, so many of them.
void check(Scatter scatter, DType dtype, std::vector<int64_t> dims,
           int64_t axis, int64_t updates) {
  SCOPED_TRACE(testing::Message()
               << dims.size() << " dims, " << dims[axis] << " along " << axis
               << ", " << updates << " updates, dtype " << int(dtype));
  std::vector<int64_t> some = dims, line(dims.size(), 1);
  some[axis] = line[axis] = updates;
  HostTensor x = randoms(dtype, dims, 999, 1);
  HostTensor added = randoms(dtype, some, 999, 2);
  HostTensor positions = randoms(DType::i64, line, dims[axis], 3);
  HostValue few = reference::decode(positions);
  HostValue each(DType::i64, some);
  int64_t stride = 1;
  for (size_t dim = axis + 1; dim < dims.size(); ++dim)
    stride *= dims[dim];
  for (int64_t i = 0; i < each.elements(); ++i)
    each.set(i, few.ints[i / stride % updates]);

  std::vector<HostTensor> tensors{x, positions, added, reference::encode(each)};
  std::vector<NodeRef> leaves;
  for (const HostTensor &tensor : tensors)
    leaves.push_back(reference::leafOf(tensor));
  NodeRef common = graph::ok(graph::broadcast(leaves[1], leaves[2]->dims()));
  NodeRef shared = graph::ok(scatter(leaves[0], common, leaves[2], axis));
  NodeRef own = graph::ok(scatter(leaves[0], leaves[3], leaves[2], axis));
  auto found = run(shared, leaves, tensors);
  EXPECT_TRUE(property::sameBytes(found, run(own, leaves, tensors)));
  if (isFloat(dtype))
    return;
  graph::Slice slice = *graph::slice({&own, 1});
  auto expected = reference::evaluate(
      slice.graph, reference::inputsOf(slice, leaves, tensors));
  ASSERT_TRUE(expected);
  EXPECT_TRUE(property::sameBytes(found, *expected));
}

} // namespace

TEST(ScatterPositions, RowsAreAddedInOrder) {
  check(graph::scatter_add, DType::f32, {10, 70}, 0, 64);
  check(graph::scatter_add, DType::bf16, {300, 64}, 0, 701);
  check(graph::scatter_add, DType::i32, {2, 5}, 0, 3000);
  check(graph::scatter_add, DType::f32, {3, 7, 128}, 1, 100);
}

TEST(ScatterPositions, PlacesInRowsAreAddedInOrder) {
  check(graph::scatter_add, DType::f32, {9, 32}, 1, 64);
  check(graph::scatter_add, DType::i32, {2, 3, 150}, 2, 500);
  check(graph::scatter_add, DType::f32, {3, 5}, 1, 333);
  check(graph::scatter_add, DType::bf16, {1000}, 0, 2000);
}

TEST(ScatterPositions, PartsOfManyUpdatesAreMerged) {
  check(graph::scatter_add, DType::i32, {2, 70}, 0, 1030);
  check(graph::scatter_add, DType::i64, {3}, 0, 5000);
  check(graph::scatter_amax, DType::f32, {2, 3}, 1, 2100);
}

TEST(ScatterPositions, OthersThanSumsAreFoldedInOrder) {
  check(graph::scatter, DType::bf16, {40, 66}, 0, 200);
  check(graph::scatter_amax, DType::f32, {5, 20}, 1, 130);
  check(graph::scatter_prod, DType::i64, {33, 3}, 0, 99);
}
