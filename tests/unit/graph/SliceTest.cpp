/// Slice: numbering, inputs, symbols and guards of the portable Graph.
#include "runtime/graph/Slice.h"

#include "runtime/device/Device.h"
#include "runtime/graph/OpIds.h"
#include "tests/unit/graph/GraphLeaves.h"

using namespace sinter;
using namespace sinter::graph;

static Slice sliceOf(std::vector<NodeRef> outputs) {
  Result<Slice> result = slice(outputs);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return std::move(*result);
}

TEST(Slice, NumbersInPostOrder) {
  NodeRef x = testLeaf({2}), y = testLeaf({2});
  NodeRef sum = ok(add(x, y));
  NodeRef product = ok(mul(sum, x));
  Slice s = sliceOf({product, sum});
  ASSERT_EQ(s.graph.values.size(), 4u);
  EXPECT_EQ(s.nodes, (std::vector<NodeRef>{x, y, sum, product}));
  EXPECT_EQ(s.graph.values[3].op, OpId::mul);
  EXPECT_EQ(s.graph.values[3].operands, (std::vector<uint32_t>{2, 0}));
  EXPECT_EQ(s.graph.outputs, (std::vector<uint32_t>{3, 2}));
  ASSERT_EQ(s.graph.inputs.size(), 2u);
  EXPECT_EQ(s.graph.inputs[1].value, 1u);
  EXPECT_EQ(s.inputs, (std::vector<NodeRef>{x, y}));
}

TEST(Slice, EvaluatedNodesBecomeData) {
  runtime::Device *device = *runtime::getDevice(DeviceId());
  NodeRef x = testLeaf({2});
  NodeRef y = ok(neg(x));
  y->setReady(*device->allocate(8));
  Slice s = sliceOf({ok(exp(y))});
  ASSERT_EQ(s.graph.inputs.size(), 1u);
  EXPECT_EQ(s.graph.inputs[0].kind, InputKind::data);
  EXPECT_EQ(s.graph.values[0].op, leafOp);
  EXPECT_TRUE(s.graph.values[0].operands.empty());
}

TEST(Slice, FailedNodesFail) {
  NodeRef x = testLeaf({2});
  NodeRef y = ok(neg(x));
  y->setFailed(makeError(ErrorKind::device, "lost"));
  Result<Slice> result = slice(std::vector<NodeRef>{ok(exp(y))});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "lost");
}

TEST(Slice, EqualSymbolsBecomeOne) {
  Dim n = testSymbol(0, 6), m = testSymbol(1, 6);
  NodeRef x = testLeaf({n, 3}), y = testLeaf({m, 3});
  Slice s = sliceOf({ok(add(x, y))});
  EXPECT_EQ(s.graph.numSymbols, 1u);
  EXPECT_EQ(s.graph.symbolValues, (std::vector<int64_t>{6}));
  EXPECT_TRUE(s.graph.guards.empty());
  EXPECT_EQ(s.graph.values[0].dims, s.graph.values[1].dims);
  EXPECT_EQ(s.graph.exprs[s.graph.values[0].dims[0]].op, ExprOp::symbol);
}

TEST(Slice, LiteralNumbersFixSymbols) {
  Dim n = testSymbol(0, 6);
  NodeRef x = testLeaf({n, 3});
  Slice s = sliceOf({ok(reshape(x, Dims{18}))});
  EXPECT_EQ(s.graph.numSymbols, 0u);
  EXPECT_EQ(s.graph.exprs[s.graph.values[0].dims[0]].value, 6);
}

TEST(Slice, ABroadcastOfOneFixesIt) {
  Dim one = testSymbol(0, 1);
  NodeRef x = testLeaf({one, 3});
  Slice s = sliceOf({ok(broadcast(x, Dims{4, 3}))});
  EXPECT_EQ(s.graph.numSymbols, 0u);
}

TEST(Slice, SymbolsThatNothingBindsAreFixed) {
  Dim n = testSymbol(0, 6);
  Slice s = sliceOf({ok(full(Dims{n}, 1, DType::f32, DeviceId()))});
  EXPECT_EQ(s.graph.numSymbols, 0u);
}

TEST(Slice, WhatIsLeftIsAGuard) {
  Dim n = testSymbol(0, 6), m = testSymbol(1, 3);
  NodeRef x = testLeaf({n, 2}), y = testLeaf({m, 4});
  Slice s =
      sliceOf({ok(add(ok(reshape(x, Dims{-1})), ok(reshape(y, Dims{-1}))))});
  EXPECT_EQ(s.graph.numSymbols, 2u);
  ASSERT_EQ(s.graph.guards.size(), 1u);
  Guard guard = s.graph.guards[0];
  EXPECT_EQ(evaluate(s.graph.exprs, guard.lhs, s.graph.symbolValues),
            evaluate(s.graph.exprs, guard.rhs, s.graph.symbolValues));
}

TEST(Slice, IndicesOfAnEmptyAxisAreFixedToBeNone) {
  Dim n = testSymbol(0, 0), m = testSymbol(1, 3);
  NodeRef x = testLeaf({0}), two = testLeaf({n, m}, DType::i64);
  // A plain symbol becomes a constant, so other extents have another key.
  NodeRef one = testLeaf({n}, DType::i64);
  EXPECT_EQ(sliceOf({ok(gather(x, one, 0))}).graph.numSymbols, 0u);
  // A product of symbols stays, and is guarded.
  NodeRef flat = ok(reshape(two, Dims{-1}));
  Slice s = sliceOf({ok(gather(x, flat, 0))});
  EXPECT_EQ(s.graph.numSymbols, 2u);
  ASSERT_EQ(s.graph.guards.size(), 1u);
  auto holds = [&](std::vector<int64_t> symbols) {
    Guard guard = s.graph.guards[0];
    return evaluate(s.graph.exprs, guard.lhs, symbols) ==
           evaluate(s.graph.exprs, guard.rhs, symbols);
  };
  EXPECT_TRUE(holds({0, 3}));
  EXPECT_TRUE(holds({4, 0}));
  EXPECT_FALSE(holds({2, 3}));
}

TEST(Slice, DimsOfInnerValuesFollow) {
  Dim n = testSymbol(0, 6), m = testSymbol(1, 6);
  NodeRef x = testLeaf({n, 3}), y = testLeaf({m, 3});
  NodeRef both = ok(concat(std::vector<NodeRef>{x, y}, 0));
  NodeRef sum = ok(add(x, y));
  Slice s = sliceOf({both, sum});
  const Value &value = s.graph.values[s.graph.outputs[0]];
  EXPECT_EQ(evaluate(s.graph.exprs, value.dims[0], std::vector<int64_t>{10}),
            20);
}
