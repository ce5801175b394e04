/// Node: what is recorded, who requires gradients, deep and shared release.
#include "sinter/runtime/Node.h"

#include "runtime/graph/AttrWords.h"
#include "runtime/graph/NodeNotes.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/RecordNumber.h"
#include "tests/Sanitized.h"
#include "tests/unit/graph/GraphLeaves.h"

#include <thread>

using namespace sinter;
using namespace sinter::graph;

TEST(Node, RecordsOpOperandsAndAttributes) {
  NodeRef x = testLeaf({2, 3});
  NodeRef y = ok(transpose(x, std::vector<int64_t>{1, -2}));
  EXPECT_EQ(y->op(), OpId::transpose);
  EXPECT_EQ(typeString(*y), "f32[3,2]");
  ASSERT_EQ(y->operands().size(), 1u);
  EXPECT_EQ(y->operands()[0], x);
  AttrReader reader(y->attrs());
  EXPECT_EQ(reader.ints()[1], 0);
  EXPECT_EQ(y->elements(), 6);
  EXPECT_FALSE(y->isReady());
  EXPECT_EQ(x->useCount(), 2u);
}

TEST(Node, SiteIsTheThreads) {
  RecordScope saved = recordScope();
  recordScope().site = 7;
  NodeRef x = testLeaf({2});
  NodeRef y = ok(neg(x));
  recordScope() = saved;
  EXPECT_EQ(y->site(), 7u);
}

TEST(Node, RequiresGrad) {
  NodeRef x = testLeaf({2, 2}, DType::f32, true);
  NodeRef y = ok(exp(x));
  EXPECT_TRUE(y->requiresGrad());
  EXPECT_FALSE(ok(argmax(y, 0, false))->requiresGrad());
  EXPECT_FALSE(ok(cast(y, DType::i32))->requiresGrad());
  EXPECT_FALSE(ok(exp(testLeaf({2})))->requiresGrad());
  recordScope().gradEnabled = false;
  EXPECT_FALSE(ok(exp(x))->requiresGrad());
  recordScope().gradEnabled = true;
}

TEST(Node, ScalarsWorkEverywhere) {
  NodeRef s = NodeFactory::scalar(DType::f32, 0x3F800000);
  EXPECT_TRUE(s->isReady());
  EXPECT_EQ(s->scalarBits(), 0x3F800000u);
  EXPECT_EQ(s->leafKind(), InputKind::scalar);
  EXPECT_EQ(s->rank(), 0u);
}

TEST(Node, FailureIsKept) {
  NodeRef x = testLeaf({2});
  NodeRef y = ok(neg(x));
  y->setFailed(makeError(ErrorKind::device, "lost"));
  EXPECT_EQ(y->state(), NodeState::failed);
  EXPECT_EQ(y->failure().message, "lost");
}

TEST(Node, DroppedOperandsAreReleased) {
  NodeRef x = testLeaf({2, 2});
  NodeRef y = ok(transpose(x, std::vector<int64_t>{1, 0}));
  y->dropOperands();
  EXPECT_TRUE(y->operands().empty());
  EXPECT_EQ(x->useCount(), 1u);
  EXPECT_EQ(y->attrs().size(), 3u);
}

TEST(Node, OpsAreNumberedAsTheirThreadRecordsThem) {
  NodeRef x = testLeaf({2});
  NodeRef a = ok(neg(x)), b = ok(exp(a));
  EXPECT_EQ(recordNumberOf(*b).count(), recordNumberOf(*a).count() + 1);
  EXPECT_EQ(recordNumberOf(*b).thread(), recordNumberOf(*a).thread());
  EXPECT_EQ(lastRecordNumber().bits, recordNumberOf(*b).bits);
  NodeRef other;
  std::thread([&] { other = ok(neg(x)); }).join();
  EXPECT_NE(recordNumberOf(*other).thread(), recordNumberOf(*a).thread());
  EXPECT_EQ(recordNumberOf(*other).count(), 1u);
}

TEST(Node, WhatRulesHoldIsReleasedWithoutRecursion) {
  NodeRef y = testLeaf({2});
  for (int i = 0; i < 300000; ++i) {
    NodeRef next = ok(neg(testLeaf({2})));
    next->addNotes().customRule = [held = y](auto &&...) {
      return Result<std::vector<NodeRef>>(std::vector<NodeRef>{held});
    };
    y = next;
  }
  y = NodeRef();
}

TEST(Node, MillionsAreReleased) {
#if defined(__SANITIZE_THREAD__)
  constexpr bool isWatched = true;
#else
  const bool isWatched = hasAddressSanitizer();
#endif
  // Each takes several times the room where it is.
  const int count = isWatched ? 500000 : 5000000;
  NodeRef x = testLeaf({2});
  NodeRef y = x;
  for (int i = 0; i < count; ++i)
    y = ok(neg(y));
  y = NodeRef();
  EXPECT_EQ(x->useCount(), 1u);
  // Each is used many times.
  for (int i = 0; i < count / 5; ++i)
    y = y ? ok(add(y, y)) : ok(neg(x));
  y = NodeRef();
  EXPECT_EQ(x->useCount(), 1u);
}

TEST(Node, DeepGraphsAreReleasedWithoutRecursion) {
  NodeRef x = testLeaf({2});
  NodeRef y = x;
  for (int i = 0; i < 1000000; ++i)
    y = ok(neg(y));
  EXPECT_EQ(x->useCount(), 2u);
  y = NodeRef();
  EXPECT_EQ(x->useCount(), 1u);
}

TEST(Node, ManyOperands) {
  std::vector<NodeRef> xs(300, testLeaf({1, 2}));
  NodeRef y = ok(concat(xs, 0));
  EXPECT_EQ(typeString(*y), "f32[300,2]");
  EXPECT_EQ(xs[0]->useCount(), 600u);
  y = NodeRef();
  EXPECT_EQ(xs[0]->useCount(), 300u);
}

/// Blocks are freed by threads that did not make them, while their owners go
/// on and end.
TEST(Node, ThreadsFreeEachOthersNodes) {
  NodeRef shared = testLeaf({4});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::vector<NodeRef>> made(4);
    std::vector<std::thread> threads;
    for (std::vector<NodeRef> &nodes : made)
      threads.emplace_back([&] {
        for (int i = 0; i < 500; ++i)
          nodes.push_back(ok(neg(shared)));
      });
    for (std::thread &thread : threads)
      thread.join();
    threads.clear();
    for (size_t i = 0; i < made.size(); ++i)
      threads.emplace_back([&, i] {
        NodeRef sum = ok(add(made[i][0], made[(i + 1) % 4][1]));
        made[i].resize(10);
      });
    for (std::thread &thread : threads)
      thread.join();
  }
  EXPECT_EQ(shared->useCount(), 1u);
}
