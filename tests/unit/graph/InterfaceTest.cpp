/// Interfaces that files, caches and other layers rely on. A failure here
/// means: the change is one of format, and needs a version.
#include "runtime/graph/Key.h"
#include "runtime/graph/Slice.h"
#include "tests/unit/graph/GraphLeaves.h"

using namespace sinter;
using namespace sinter::graph;

TEST(Interface, DTypeCodes) {
  EXPECT_EQ(int(DType::f64), 0);
  EXPECT_EQ(int(DType::f32), 1);
  EXPECT_EQ(int(DType::bf16), 3);
  EXPECT_EQ(int(DType::i64), 7);
  EXPECT_EQ(int(DType::boolean), 9);
  EXPECT_EQ(int(DType::u64), 19);
  EXPECT_EQ(numDTypes, 20u);
}

TEST(Interface, ExpressionCodes) {
  EXPECT_EQ(int(ExprOp::constant), 0);
  EXPECT_EQ(int(ExprOp::symbol), 1);
  EXPECT_EQ(int(ExprOp::add), 2);
  EXPECT_EQ(int(ExprOp::mul), 3);
  EXPECT_EQ(int(ExprOp::floorDiv), 4);
  EXPECT_EQ(int(ExprOp::ceilDiv), 5);
  EXPECT_EQ(int(ExprOp::mod), 6);
}

TEST(Interface, InputKindsAndAttributeKinds) {
  EXPECT_EQ(int(InputKind::data), 0);
  EXPECT_EQ(int(InputKind::parameter), 1);
  EXPECT_EQ(int(InputKind::scalar), 2);
  EXPECT_EQ(int(AttrKind::boolean), 0);
  EXPECT_EQ(int(AttrKind::number), 3);
  EXPECT_EQ(int(AttrKind::dims), 8);
}

TEST(Interface, Sizes) {
  EXPECT_EQ(sizeof(Dim), 16u);
  EXPECT_EQ(sizeof(NodeRef), sizeof(void *));
  EXPECT_EQ(sizeof(Node), 56u);
  EXPECT_EQ(sizeof(runtime::Key), 16u);
}

TEST(Interface, EncodingOfASmallGraph) {
  NodeRef x = testLeaf({4, testSymbol(0, 6)});
  NodeRef y = ok(neg(x));
  KeyedSlice keyed;
  ASSERT_TRUE(keyed.compute({&y, 1}).ok());
  auto op = static_cast<uint32_t>(OpId::neg);
  const std::vector<uint32_t> expected = {
      0x01010000,
      2,
      8,
      1, // a parameter, f32, rank 2: 4, expression 0
      op | 0x01000000,
      0x10000,
      0, // neg, f32, one operand: number 0
      1,
      1, // one output: number 1
      1,
      0, // one expression
      1,
      0,
      0,
      0,
      0, // symbol 0
  };
  EXPECT_EQ(
      std::vector<uint32_t>(keyed.encoding().begin(), keyed.encoding().end()),
      expected);
}

TEST(Interface, KeyOfAnEncoding) {
  NodeRef x = testLeaf({4, 6});
  KeyedSlice keyed;
  ASSERT_TRUE(keyed.compute({&x, 1}).ok());
  EXPECT_EQ(toHex(keyed.key()), "0a70810246908e49d47c61040b39ce98");
}
