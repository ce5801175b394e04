/// Key: what changes it, what does not, and the same from node and Graph.
#include "runtime/graph/Key.h"

#include "runtime/graph/Slice.h"
#include "tests/unit/graph/GraphLeaves.h"

using namespace sinter;
using namespace sinter::graph;

/// Of a slice; checked against the key of its Graph.
static runtime::Key keyOfNodes(std::vector<NodeRef> outputs) {
  KeyedSlice keyed;
  EXPECT_TRUE(keyed.compute(outputs, {1, 2}).ok());
  runtime::Key key = keyed.key();
  Slice made = toGraph(keyed);
  EXPECT_EQ(keyOf(made.graph, {1, 2}), key);
  return key;
}

TEST(Key, EqualRecordingsAgree) {
  auto record = [] {
    NodeRef x = testLeaf({4, 8}), w = testLeaf({8, 2});
    return ok(exp(ok(matmul(x, w))));
  };
  EXPECT_EQ(keyOfNodes({record()}), keyOfNodes({record()}));
}

TEST(Key, AliasingCounts) {
  NodeRef x = testLeaf({4}), y = testLeaf({4});
  EXPECT_NE(keyOfNodes({ok(add(x, y))}), keyOfNodes({ok(add(x, x))}));
}

TEST(Key, WhatChangesIt) {
  NodeRef x = testLeaf({4, 4});
  runtime::Key key = keyOfNodes({ok(sum(x, std::vector<int64_t>{0}, false))});
  EXPECT_NE(key, keyOfNodes({ok(sum(x, std::vector<int64_t>{1}, false))}));
  EXPECT_NE(key, keyOfNodes({ok(sum(x, std::vector<int64_t>{0}, true))}));
  EXPECT_NE(key, keyOfNodes({ok(amax(x, std::vector<int64_t>{0}, false))}));
  EXPECT_NE(key, keyOfNodes({ok(sum(testLeaf({4, 4}, DType::f64),
                                    std::vector<int64_t>{0}, false))}));
  EXPECT_NE(
      key,
      keyOfNodes({ok(sum(testLeaf({4, 5}), std::vector<int64_t>{0}, false))}));
  NodeRef y = ok(neg(x));
  EXPECT_NE(keyOfNodes({y}), keyOfNodes({y, y}));
  EXPECT_NE(keyOfNodes({x, y}), keyOfNodes({y, x}));
}

TEST(Key, EnvironmentCounts) {
  NodeRef y = ok(neg(testLeaf({4})));
  KeyedSlice a, b;
  ASSERT_TRUE(a.compute({&y, 1}, {1, 2}).ok());
  ASSERT_TRUE(b.compute({&y, 1}, {1, 3}).ok());
  EXPECT_NE(a.key(), b.key());
  EXPECT_TRUE(std::ranges::equal(a.encoding(), b.encoding()));
}

TEST(Key, SitesAndScalarValuesDoNotCount) {
  auto record = [](uint64_t bits, SiteId site) {
    recordScope().site = site;
    NodeRef s = NodeFactory::scalar(DType::f32, bits);
    NodeRef y = ok(mul(ok(reshape(testLeaf({1}), Dims{})), s));
    recordScope().site = 0;
    return y;
  };
  EXPECT_EQ(keyOfNodes({record(1, 3)}), keyOfNodes({record(2, 4)}));
}

TEST(Key, SymbolicDimsGiveOneKey) {
  auto record = [](int64_t n, uint32_t axis) {
    NodeRef x = testLeaf({testSymbol(axis, n), 8});
    NodeRef flat = ok(reshape(x, Dims{-1}));
    return ok(reshape(flat, Dims{-1, 4}));
  };
  EXPECT_EQ(keyOfNodes({record(6, 0)}), keyOfNodes({record(29, 3)}));
  EXPECT_NE(keyOfNodes({record(6, 0)}),
            keyOfNodes({ok(reshape(ok(reshape(testLeaf({6, 8}), Dims{-1})),
                                   Dims{-1, 4}))}));
}

TEST(Key, GuardsDecideWhatIsOne) {
  auto record = [](Dim n, Dim m) {
    return ok(add(testLeaf({n, 2}), testLeaf({m, 2})));
  };
  Dim a = testSymbol(0, 6), b = testSymbol(1, 6), c = testSymbol(2, 9);
  runtime::Key one = keyOfNodes({record(a, a)});
  EXPECT_EQ(one, keyOfNodes({record(a, b)}));
  EXPECT_EQ(one, keyOfNodes({record(c, c)}));
  EXPECT_EQ(keyOfNodes({record(a, 6)}), keyOfNodes({record(6, b)}));
  EXPECT_NE(one, keyOfNodes({record(a, 6)}));
}

TEST(Key, InputsAreInPostOrder) {
  NodeRef x = testLeaf({2}), y = testLeaf({2});
  NodeRef z = ok(sub(y, x));
  KeyedSlice keyed;
  ASSERT_TRUE(keyed.compute({&z, 1}).ok());
  ASSERT_EQ(keyed.inputs().size(), 2u);
  EXPECT_EQ(keyed.nodes()[keyed.inputs()[0]], y.get());
  EXPECT_EQ(keyed.nodes()[keyed.inputs()[1]], x.get());
  EXPECT_TRUE(keyed.isInput(0));
  EXPECT_FALSE(keyed.isInput(2));
}
