/// Shrinking: graphs that a predicate calls failing, without a compiler.
#include "tools/sinter/Shrink.h"

#include "runtime/graph/OpIds.h"
#include "tests/unit/reference/HostRows.h"
#include "tools/sinter/EditGraph.h"

#include <algorithm>
#include <numeric>

using namespace sinter;
using namespace sinter::cli;
using reference::HostTensor;
using reference::Repro;

namespace {

HostTensor counting(std::vector<int64_t> dims) {
  int64_t count = reference::elementCount(dims);
  std::vector<double> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  HostTensor tensor = reference::reals(DType::f32, values);
  tensor.dims = std::move(dims);
  return tensor;
}

/// A repro of these outputs; a leaf holds 1, 2, 3, ...
Repro reproOf(const std::vector<graph::NodeRef> &outputs) {
  Repro repro;
  graph::Slice slice = *graph::slice(outputs);
  repro.graph = slice.graph;
  for (const graph::NodeRef &input : slice.inputs) {
    std::vector<int64_t> dims;
    for (Dim dim : input->dims())
      dims.push_back(dim.value);
    repro.inputs.push_back(counting(dims));
  }
  return repro;
}

std::vector<graph::OpId> opsOf(const graph::Graph &graph) {
  std::vector<graph::OpId> ops;
  for (uint32_t number : computedValues(graph))
    ops.push_back(graph.values[number].op);
  return ops;
}

/// Whether the reference computes it and it has the op.
bool has(const Repro &repro, graph::OpId op) {
  return reference::evaluate(repro.graph, repro.inputs) &&
         std::ranges::count(opsOf(repro.graph), op) > 0;
}

/// tanh(sum(exp(x w) * b)), and an output beside it.
Repro chain(Dim rows) {
  graph::NodeRef x = graph::testLeaf({rows, 8}), w = graph::testLeaf({8, 6});
  graph::NodeRef b = graph::testLeaf({rows, 6});
  graph::NodeRef y = graph::ok(graph::exp(graph::ok(graph::matmul(x, w))));
  y = graph::ok(graph::sum(graph::ok(graph::mul(y, b)), {{0}}, false));
  return reproOf({graph::ok(graph::neg(x)), graph::ok(graph::tanh(y))});
}

} // namespace

TEST(Shrink, FindsTheOneOp) {
  for (Dim rows : {Dim(12), graph::testSymbol(0, 12)}) {
    Repro repro = chain(rows);
    ASSERT_EQ(opsOf(repro.graph).size(), 6u);
    auto fails = [](const Repro &each) { return has(each, graph::OpId::sum); };
    Shrunk shrunk = shrink(repro, fails);
    const graph::Graph &graph = shrunk.repro.graph;
    EXPECT_EQ(opsOf(graph), std::vector{graph::OpId::sum});
    ASSERT_EQ(graph.inputs.size(), 1u);
    EXPECT_EQ(graph.numSymbols, 0u);
    EXPECT_EQ(shrunk.repro.inputs[0].dims, (std::vector<int64_t>{1, 1}));
    EXPECT_TRUE(reference::evaluate(graph, shrunk.repro.inputs));
  }
}

TEST(Shrink, KeepsWhatTheFailureNeeds) {
  // Fails while a matmul with at least five terms feeds an exp.
  auto fails = [](const Repro &repro) {
    if (!has(repro, graph::OpId::exp))
      return false;
    for (const graph::Value &value : repro.graph.values)
      if (value.op == graph::OpId::matmul) {
        const graph::Value &lhs = repro.graph.values[value.operands[0]];
        return repro.graph.exprs[lhs.dims[1]].value >= 5;
      }
    return false;
  };
  Shrunk shrunk = shrink(chain(12), fails);
  EXPECT_EQ(opsOf(shrunk.repro.graph),
            (std::vector{graph::OpId::matmul, graph::OpId::exp}));
  ASSERT_EQ(shrunk.repro.inputs.size(), 2u);
  EXPECT_EQ(shrunk.repro.inputs[0].dims, (std::vector<int64_t>{1, 5}));
  // Extents that have become equal are one expression, and stay equal.
  EXPECT_EQ(shrunk.repro.inputs[1].dims, (std::vector<int64_t>{5, 5}));
  // The leading elements of what they were.
  reference::HostValue x = reference::decode(shrunk.repro.inputs[0]);
  EXPECT_EQ(x.reals, (std::vector<double>{1, 2, 3, 4, 5}));
}

TEST(Shrink, CutsTakeTheValuesOfTheReference) {
  Repro repro = chain(12);
  auto before = reference::evaluate(repro.graph, repro.inputs);
  auto values = allValues({repro.graph, repro.inputs});
  ASSERT_TRUE(before && values);
  for (uint32_t number : computedValues(repro.graph)) {
    BoundGraph cut = withCuts({repro.graph, repro.inputs}, {number}, *values);
    auto after = reference::evaluate(cut.graph, cut.inputs);
    ASSERT_TRUE(after);
    for (size_t i = 0; i < before->size(); ++i)
      EXPECT_EQ((*after)[i].data, (*before)[i].data);
  }
}

TEST(Shrink, StopsWhenNothingSmallerFails) {
  Repro repro = chain(12);
  unsigned calls = 0;
  Shrunk shrunk =
      shrink(repro, [&](const Repro &) { return ++calls, false; }, 20);
  EXPECT_EQ(shrunk.trials, 20u);
  EXPECT_EQ(calls, 20u);
  EXPECT_EQ(opsOf(shrunk.repro.graph), opsOf(repro.graph));
}
