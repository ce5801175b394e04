/// Interfaces that files, caches and other layers rely on. A failure here
/// means: the change is one of format, and needs a version.
#include "runtime/graph/Key.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/Slice.h"
#include "tests/unit/graph/GraphLeaves.h"

#include <xxhash.h>

using namespace sinter;
using namespace sinter::graph;

static const runtime::Key environment = {0x0123456789abcdef,
                                         0xfedcba9876543210};

/// What a key is, said a second time: a hash of the words and the environment.
static runtime::Key keyOfWords(std::span<const uint32_t> words) {
  XXH128_hash_t inner = XXH3_128bits(words.data(), words.size_bytes());
  const uint64_t all[] = {inner.high64, inner.low64, environment.high,
                          environment.low};
  XXH128_hash_t outer = XXH3_128bits(all, sizeof(all));
  return {outer.high64, outer.low64};
}

/// The words with each op's number replaced by a hash of its name: op numbers
/// change when an op is added (and with them the compiler's digest).
static std::vector<uint32_t> withoutOpNumbers(const KeyedSlice &keyed) {
  std::vector<uint32_t> words(keyed.encoding().begin(), keyed.encoding().end());
  size_t at = 0;
  for (uint32_t number = 0; number < keyed.nodes().size(); ++number) {
    if (keyed.isInput(number))
      continue;
    const Node *node = keyed.nodes()[number];
    uint32_t head = static_cast<uint32_t>(node->op()) |
                    static_cast<uint32_t>(node->dtype()) << 24;
    auto operands = static_cast<uint32_t>(node->operands().size());
    while (at + 1 < words.size() &&
           (words[at] != head || words[at + 1] >> 16 != operands))
      ++at;
    EXPECT_LT(at + 1, words.size()) << "no record of " << info(node->op()).name;
    if (at + 1 >= words.size())
      break;
    std::string_view name = info(node->op()).name;
    words[at++] = static_cast<uint32_t>(XXH3_64bits(name.data(), name.size()));
  }
  return words;
}

/// The key of these outputs but for the numbers of ops, as text.
static std::string goldenKey(std::vector<NodeRef> outputs) {
  KeyedSlice keyed;
  EXPECT_TRUE(keyed.compute(outputs, environment).ok());
  EXPECT_EQ(toHex(keyed.key()), toHex(keyOfWords(keyed.encoding())));
  return toHex(keyOfWords(withoutOpNumbers(keyed)));
}

TEST(Interface, DTypeCodes) {
  EXPECT_EQ(int(DType::f64), 0);
  EXPECT_EQ(int(DType::f32), 1);
  EXPECT_EQ(int(DType::bf16), 3);
  EXPECT_EQ(int(DType::i64), 7);
  EXPECT_EQ(int(DType::boolean), 9);
  EXPECT_EQ(int(DType::u64), 19);
  EXPECT_EQ(numDTypes, 25u);
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
  EXPECT_EQ(int(AttrKind::text), 9);
}

TEST(Interface, Sizes) {
  EXPECT_EQ(sizeof(Dim), 16u);
  EXPECT_EQ(sizeof(NodeRef), sizeof(void *));
  EXPECT_EQ(sizeof(Node), 64u);
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

TEST(Interface, KeyOfALayer) {
  NodeRef x = testLeaf({32, 784}), w = testLeaf({784, 512}, DType::f32, true);
  NodeRef b = testLeaf({512}, DType::f32, true);
  NodeRef product = ok(matmul(x, w));
  NodeRef bias = ok(broadcast(b, Dims{32, 512}));
  EXPECT_EQ(goldenKey({ok(relu(ok(add(product, bias))))}),
            "47c1fd768255aa3f7ae7fab39b8f2f47");
}

TEST(Interface, KeyOfSymbolicDimsAndGuards) {
  NodeRef x = testLeaf({testSymbol(0, 6), 8}),
          y = testLeaf({testSymbol(1, 6), 8});
  NodeRef both = ok(add(x, y));
  EXPECT_EQ(goldenKey({ok(reshape(both, Dims{-1, 4}))}),
            "e2197a7a5fe99890946d3d56af5ba3c7");
}

TEST(Interface, KeyOfAttributesScalarsAndOutputs) {
  NodeRef x = testLeaf({4, 6}, DType::bf16);
  NodeRef wide = ok(cast(x, DType::f64));
  NodeRef rate = NodeFactory::scalar(DType::f64, 0x3ff8000000000000);
  NodeRef scaled = ok(mul(wide, ok(broadcast(rate, Dims{4, 6}))));
  NodeRef total = ok(sum(scaled, std::vector<int64_t>{0, 1}, true));
  NodeRef turned = ok(transpose(scaled, std::vector<int64_t>{1, 0}));
  NodeRef half = ok(full(Dims{6, 4}, Number(0.5), DType::f64, DeviceId()));
  EXPECT_EQ(goldenKey({total, ok(add(turned, half))}),
            "79e2014aaf998ddddc8646a30eb99a21");
}
