/// Shape rules: results, and the text of every kind of misuse.
#include "runtime/graph/ShapeRules.h"

#include "runtime/graph/ShapeChecks.h"
#include "sinter/generated/builders/Complex.h"
#include "tests/unit/graph/GraphLeaves.h"

using namespace sinter;
using namespace sinter::graph;

using Ints = std::vector<int64_t>;

static void expectError(const Result<NodeRef> &result, std::string_view text,
                        ErrorKind kind = ErrorKind::invalid_argument) {
  ASSERT_FALSE(result.ok()) << "expected: " << text;
  EXPECT_EQ(result.error().message, text);
  EXPECT_EQ(result.error().kind, kind);
}

TEST(ShapeRules, Results) {
  NodeRef x = testLeaf({2, 3, 4});
  EXPECT_EQ(typeString(*ok(sum(x, Ints{1}, false))), "f32[2,4]");
  EXPECT_EQ(typeString(*ok(sum(x, Ints{0, -1}, true))), "f32[1,3,1]");
  EXPECT_EQ(typeString(*ok(argmax(x, -1, false))), "i64[2,3]");
  EXPECT_EQ(typeString(*ok(reshape(x, Dims{-1, 6}))), "f32[4,6]");
  EXPECT_EQ(typeString(*ok(broadcast(x, Dims{5, 2, 3, 4}))), "f32[5,2,3,4]");
  EXPECT_EQ(typeString(*ok(broadcast(x, Dims{5, -1, -1, -1}))), "f32[5,2,3,4]");
  EXPECT_EQ(
      typeString(*ok(slice(x, Ints{0, 1, 0}, Dims{2, 3, 4}, Ints{1, 1, 3}))),
      "f32[2,2,2]");
  EXPECT_EQ(typeString(*ok(concat(std::vector<NodeRef>{x, x}, -2))),
            "f32[2,6,4]");
  EXPECT_EQ(
      typeString(*ok(pad(x, Ints{0, 0, 1}, Dims{2, 3, 9}, Ints{0, 0, 1}, 0.0))),
      "f32[2,3,9]");
  EXPECT_EQ(typeString(*ok(matmul(x, testLeaf({2, 4, 5})))), "f32[2,3,5]");
  EXPECT_EQ(typeString(*ok(amin(x, Ints{2}, false))), "f32[2,3]");
  EXPECT_EQ(typeString(*ok(var(x, Ints{1}, 1, true))), "f32[2,1,4]");
  EXPECT_EQ(typeString(*ok(flip(x, Ints{-1}))), "f32[2,3,4]");
  EXPECT_EQ(typeString(*ok(squeeze(testLeaf({1, 3, 1}), Ints{-1}))),
            "f32[1,3]");
  EXPECT_EQ(typeString(*ok(unsqueeze(x, 3))), "f32[2,3,4,1]");
  NodeRef five = testLeaf({5}, DType::i64);
  EXPECT_EQ(typeString(*ok(index_select(x, five, -2))), "f32[2,5,4]");
  EXPECT_EQ(typeString(
                *ok(embedding(testLeaf({7, 4}), testLeaf({2, 3}, DType::i32)))),
            "f32[2,3,4]");
  NodeRef bits = testLeaf({3}, DType::boolean);
  EXPECT_EQ(typeString(*ok(sum(bits, Ints{0}, false))), "i64[]");
  EXPECT_EQ(typeString(*ok(reshape(testLeaf({0, 3}), Dims{3, 0}))), "f32[3,0]");
}

TEST(ShapeRules, ElementwiseErrors) {
  NodeRef x = testLeaf({4, 8});
  expectError(add(x, testLeaf({4, 9})),
              "add: shapes differ: f32[4,8] x f32[4,9]");
  expectError(add(x, testLeaf({4})), "add: ranks differ: f32[4,8] x f32[4]");
  expectError(add(x, testLeaf({4, 8}, DType::i32)),
              "add: dtypes differ: f32[4,8] x i32[4,8]");
  expectError(exp(testLeaf({4}, DType::i32)),
              "exp: operand x must be f64, f32, f16 or bf16: i32[4]");
  expectError(mul(testLeaf({4}, DType::c64), testLeaf({4}, DType::c64)),
              "mul: cannot compute with c64: c64[4] x c64[4]",
              ErrorKind::unsupported);
  EXPECT_EQ(
      (*add(testLeaf({4}, DType::c64), testLeaf({4}, DType::c64)))->dtype(),
      DType::c64);
  expectError(graph::complex(x, testLeaf({4, 8}, DType::f64)),
              "complex: dtypes differ: f32[4,8] x f64[4,8]");
  expectError(graph::real(x), "real: operand x must be c64 or c128: f32[4,8]");
}

TEST(ShapeRules, ContractionErrors) {
  NodeRef x = testLeaf({4, 8});
  expectError(matmul(x, testLeaf({16, 2})),
              "matmul: inner dimensions differ: f32[4,8] x f32[16,2]");
  expectError(matmul(x, testLeaf({8})),
              "matmul: operands need at least two dimensions: f32[4,8] x "
              "f32[8]");
  expectError(matmul(testLeaf({2, 4, 8}), testLeaf({3, 8, 2})),
              "matmul: batch dimensions differ: f32[2,4,8] x f32[3,8,2]");
  expectError(matmul(testLeaf({2, 4, 8}), testLeaf({8, 2})),
              "matmul: ranks differ: f32[2,4,8] x f32[8,2]");
}

TEST(ShapeRules, AxisErrors) {
  NodeRef x = testLeaf({4, 8});
  expectError(sum(x, Ints{2}, false),
              "sum: axis 2 is out of range for rank 2: f32[4,8]");
  expectError(sum(x, Ints{-3}, false),
              "sum: axis -3 is out of range for rank 2: f32[4,8]");
  expectError(sum(x, Ints{1, -1}, false),
              "sum: axis 1 is named twice: f32[4,8]");
  expectError(amax(testLeaf({4, 0}), Ints{1}, false),
              "amax: axis 1 is empty: f32[4,0]");
  expectError(transpose(x, Ints{0, 0}),
              "transpose: axis 0 is named twice: f32[4,8]");
  expectError(transpose(x, Ints{0}),
              "transpose: the permutation has 1 axes for rank 2: f32[4,8]");
}

TEST(ShapeRules, ViewErrors) {
  NodeRef x = testLeaf({4, 8});
  expectError(reshape(x, Dims{5, 6}),
              "reshape: element counts differ: cannot be [5,6]: f32[4,8]");
  expectError(reshape(x, Dims{-1, -1}),
              "reshape: -1 stands twice in [-1,-1]: f32[4,8]");
  expectError(reshape(x, Dims{-1, 5}), "reshape: cannot be [-1,5]: f32[4,8]");
  expectError(reshape(testLeaf({0}), Dims{-1, 0}),
              "reshape: cannot tell what -1 stands for in [-1,0]: f32[0]");
  expectError(reshape(x, Dims{-2, -16}),
              "reshape: dimension 0 is -2, outside [0, 2147483647]: f32[4,8]");
  expectError(broadcast(x, Dims{4, 9}),
              "broadcast: cannot become [4,9]: f32[4,8]");
  expectError(broadcast(x, Dims{8}), "broadcast: cannot become [8]: f32[4,8]");
  expectError(slice(x, Ints{0, 0}, Dims{4, 9}, Ints{1, 1}),
              "slice: the limit is beyond the end on axis 1: f32[4,8]");
  expectError(slice(x, Ints{0, 5}, Dims{4, 4}, Ints{1, 1}),
              "slice: the limit is below the start on axis 1: f32[4,8]");
  expectError(slice(x, Ints{0, 0}, Dims{4, 8}, Ints{1, 0}),
              "slice: the step is not positive on axis 1: f32[4,8]");
  expectError(slice(x, Ints{0}, Dims{4, 8}, Ints{1, 1}),
              "slice: starts has 1 entries for rank 2: f32[4,8]");
  expectError(pad(x, Ints{0, 1}, Dims{4, 8}, Ints{0, 0}, 0),
              "pad: the result is too small on axis 1: f32[4,8]");
  expectError(concat(std::vector<NodeRef>{x, testLeaf({5, 9})}, 0),
              "concat: shapes differ besides axis 0: f32[4,8] x f32[5,9]");
}

TEST(ShapeRules, SizeErrors) {
  NodeRef x = testLeaf({1});
  expectError(broadcast(x, Dims{int64_t(1) << 31}),
              "broadcast: dimension 0 is 2147483648, outside [0, 2147483647]: "
              "f32[1]");
  int64_t large = (int64_t(1) << 31) - 1;
  expectError(broadcast(x, Dims{large, large, large}),
              "broadcast: the result would have more than 2^58 elements: "
              "[2147483647,2147483647,2147483647]: f32[1]");
  expectError(concat(std::vector<NodeRef>{testLeaf({large}), x}, 0),
              "concat: dimension 0 is 2147483648, outside [0, 2147483647]: "
              "f32[2147483647] x f32[1]");
}

TEST(ShapeRules, PickErrors) {
  NodeRef x = testLeaf({4, 8});
  expectError(squeeze(x, Ints{0}),
              "squeeze: axis 0 is not of size 1: f32[4,8]");
  expectError(
      unsqueeze(x, -1),
      "unsqueeze: axis -1 is out of range for the new rank 3: f32[4,8]");
  expectError(index_select(x, testLeaf({2, 3}, DType::i64), 0),
              "index_select: the indices must have one axis: f32[4,8] x "
              "i64[2,3]");
  expectError(index_select(testLeaf({0}), testLeaf({3}, DType::i64), 0),
              "index_select: axis 0 is empty: f32[0] x i64[3]");
  EXPECT_TRUE(index_select(testLeaf({0}), testLeaf({0}, DType::i64), 0).ok());
  expectError(embedding(testLeaf({4}), testLeaf({3}, DType::i64)),
              "embedding: expects weight [count, length]: f32[4] x i64[3]");
}

TEST(ShapeRules, IndexErrors) {
  NodeRef x = testLeaf({4, 8});
  NodeRef indices = testLeaf({4, 2}, DType::i64);
  expectError(gather(x, testLeaf({4, 2}), 1),
              "gather: operand indices must be i32 or i64: f32[4,8] x "
              "f32[4,2]");
  expectError(gather(x, indices, 0),
              "gather: shapes differ besides axis 0: f32[4,8] x i64[4,2]");
  expectError(gather(testLeaf({4, 0}), indices, 1),
              "gather: axis 1 is empty: f32[4,0] x i64[4,2]");
  expectError(scatter_add(x, indices, testLeaf({4, 3}), 1),
              "scatter_add: shapes differ: f32[4,8] x i64[4,2] x f32[4,3]");
}

TEST(ShapeRules, ErrorsCarryShapesAndSite) {
  recordScope().site = 5;
  Result<NodeRef> result = add(testLeaf({2}), testLeaf({3}));
  recordScope().site = 0;
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().op, "add");
  EXPECT_EQ(result.error().site, 5u);
  EXPECT_EQ(result.error().shapes,
            (std::vector<std::string>{"f32[2]", "f32[3]"}));
}

TEST(ShapeRules, SymbolicDimsLeaveGuards) {
  Dim n = testSymbol(0, 6), m = testSymbol(1, 6);
  GuardSink sink;
  {
    GuardScope scope(sink);
    ok(add(testLeaf({n, 2}), testLeaf({n, 2})));
    EXPECT_TRUE(sink.equalities.empty());
    NodeRef y = ok(add(testLeaf({n, 2}), testLeaf({m, 2})));
    EXPECT_EQ(sink.equalities.size(), 1u);
    EXPECT_TRUE(y->hasGuards());
    NodeRef flat = ok(reshape(y, Dims{-1}));
    EXPECT_EQ(sink.equalities.size(), 1u);
    EXPECT_FALSE(flat->hasGuards());
    EXPECT_EQ(flat->dims()[0].expr, (n * Dim(2)).expr);
    ok(reshape(y, Dims{12}));
    EXPECT_EQ(sink.equalities.size(), 2u);
  }
}

TEST(ShapeRules, PickingNothingFromNothingLeavesAGuard) {
  Dim n = testSymbol(0, 0), m = testSymbol(1, 3);
  NodeRef x = testLeaf({0, 3}), none = testLeaf({n, 3}, DType::i64);
  GuardSink sink;
  GuardScope scope(sink);
  auto expectNone = [&](const NodeRef &node) {
    EXPECT_TRUE(node->hasGuards());
    ASSERT_EQ(sink.equalities.size(), 1u);
    EXPECT_EQ(sink.equalities[0].first.expr, n.expr);
    EXPECT_TRUE(sink.equalities[0].second.isConstant());
    EXPECT_EQ(sink.equalities[0].second.value, 0);
    sink.equalities.clear();
  };
  expectNone(ok(gather(x, none, 0)));
  expectNone(ok(scatter_add(x, none, testLeaf({n, 3}), 0)));
  // A constant 0 says it without a guard.
  EXPECT_FALSE(ok(gather(testLeaf({3, 0}), testLeaf({3, 0}, DType::i32), 1))
                   ->hasGuards());
  // Where there is something to pick from, that is the guard.
  EXPECT_TRUE(ok(gather(testLeaf({m, 3}), none, 0))->hasGuards());
  expectError(gather(x, testLeaf({m, 3}, DType::i64), 0),
              "gather: axis 0 is empty: f32[0,3] x i64[3,3]");
  expectError(scatter_add(x, testLeaf({m, 3}, DType::i64), testLeaf({m, 3}), 0),
              "scatter_add: axis 0 is empty: f32[0,3] x i64[3,3] x f32[3,3]");
}
