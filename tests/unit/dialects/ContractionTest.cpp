/// Contractions by their loops, and what decodes their operands.
#include "dialects/sinter/Contraction.h"

#include "dialects/sinter/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using ir::ContractionLoop;

namespace {

class Contraction : public testing::Test {
protected:
  Contraction() {
    context.loadDialect<ir::SinterDialect>();
    context.allowUnregisteredDialects();
  }

  /// The last contraction of a text.
  ir::ContractionOpInterface parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ir::ContractionOpInterface found;
    if (module)
      module->walk([&](ir::ContractionOpInterface op) { found = op; });
    return found;
  }

  AffineMap loops(std::vector<AffineExpr> axes, unsigned count = 3) {
    return AffineMap::get(count, 0, axes, &context);
  }
  AffineExpr loop(unsigned number) {
    return getAffineDimExpr(number, &context);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(Contraction, Loops) {
  auto op = parse(R"(
    %x = "test.x"() : () -> tensor<2x5x4x8xbf16>
    %w = "test.w"() : () -> tensor<2x5x8x3xbf16>
    %0 = sinter.matmul %x, %w
      : (tensor<2x5x4x8xbf16>, tensor<2x5x8x3xbf16>) -> tensor<2x5x4x3xbf16>
  )");
  ASSERT_TRUE(op);
  ir::ContractionMaps maps = op.getIndexingMaps();
  EXPECT_EQ(maps.lhs, loops({loop(0), loop(1), loop(2), loop(4)}, 5));
  EXPECT_EQ(maps.rhs, loops({loop(0), loop(1), loop(4), loop(3)}, 5));
  EXPECT_EQ(maps.result, loops({loop(0), loop(1), loop(2), loop(3)}, 5));
  EXPECT_EQ(op.getNumBatchLoops(), 2u);
  EXPECT_EQ(op.getLhsAxis(ContractionLoop::m), 2u);
  EXPECT_EQ(op.getLhsAxis(ContractionLoop::k), 3u);
  EXPECT_EQ(op.getRhsAxis(ContractionLoop::k), 2u);
  EXPECT_EQ(op.getRhsAxis(ContractionLoop::n), 3u);
  EXPECT_EQ(depthOf(op), getAffineConstantExpr(8, &context));
  EXPECT_TRUE(op.getSumType().isF32());
  EXPECT_EQ(ir::matrixProductOf(op.getOperation()), op);
  EXPECT_FALSE(ir::matrixProductOf(op.getLhs()));
  EXPECT_FALSE(op.getLhsDecoding());
  EXPECT_FALSE(op.getRhsDecoding());
}

TEST_F(Contraction, ScaledBytes) {
  auto op = parse(R"(
    %x = "test.x"() : () -> tensor<4x8xf32>
    %w = "test.w"() : () -> tensor<8x3xi8>
    %s = "test.s"() : () -> tensor<3xf32>
    %0 = sinter.cast %w {dtype = f32} : (tensor<8x3xi8>) -> tensor<8x3xf32>
    %1 = sinter.broadcast %s {shape = affine_map<() -> (8, 3)>}
      : (tensor<3xf32>) -> tensor<8x3xf32>
    %2 = sinter.mul %0, %1 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
    %3 = sinter.matmul %x, %2 : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  )");
  ASSERT_TRUE(op);
  auto decoding = op.getRhsDecoding();
  ASSERT_TRUE(decoding);
  EXPECT_TRUE(getElementTypeOrSelf(decoding->codes.getType()).isInteger(8));
  EXPECT_EQ(decoding->codesMap, loops({loop(2), loop(1)}));
  EXPECT_TRUE(decoding->element.isF32());
  ASSERT_TRUE(decoding->scale);
  EXPECT_EQ(decoding->scaleMap, loops({loop(1)}));
  EXPECT_FALSE(op.getLhsDecoding());
}

// A weight [n, k] of all batches, with the scale on the left.
TEST_F(Contraction, TurnedBytes) {
  auto op = parse(R"(
    %x = "test.x"() : () -> tensor<2x4x8xf32>
    %w = "test.w"() : () -> tensor<3x8xui8>
    %s = "test.s"() : () -> tensor<3x1xf32>
    %0 = sinter.cast %w {dtype = f32} : (tensor<3x8xui8>) -> tensor<3x8xf32>
    %1 = sinter.broadcast %s {shape = affine_map<() -> (3, 8)>}
      : (tensor<3x1xf32>) -> tensor<3x8xf32>
    %2 = sinter.mul %1, %0 : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %3 = sinter.transpose %2 {permutation = array<i64: 1, 0>}
      : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %4 = sinter.broadcast %3 {shape = affine_map<() -> (2, 8, 3)>}
      : (tensor<8x3xf32>) -> tensor<2x8x3xf32>
    %5 = sinter.matmul %x, %4
      : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  )");
  ASSERT_TRUE(op);
  auto decoding = op.getRhsDecoding();
  ASSERT_TRUE(decoding);
  EXPECT_EQ(decoding->codesMap, loops({loop(2), loop(3)}, 4));
  EXPECT_EQ(decoding->scaleMap,
            loops({loop(2), getAffineConstantExpr(0, &context)}, 4));
}

TEST_F(Contraction, ConvertedHalves) {
  auto op = parse(R"(
    %x = "test.x"() : () -> tensor<4x8xbf16>
    %w = "test.w"() : () -> tensor<8x3xf32>
    %m = "test.m"() : () -> tensor<8x3xi8>
    %0 = sinter.cast %x {dtype = f32} : (tensor<4x8xbf16>) -> tensor<4x8xf32>
    %1 = sinter.cast %m {dtype = f32} : (tensor<8x3xi8>) -> tensor<8x3xf32>
    %2 = sinter.mul %w, %1 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
    %3 = sinter.matmul %0, %2 : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  )");
  ASSERT_TRUE(op);
  auto decoding = op.getLhsDecoding();
  ASSERT_TRUE(decoding);
  EXPECT_TRUE(getElementTypeOrSelf(decoding->codes.getType()).isBF16());
  EXPECT_FALSE(decoding->scale);
  // A factor for each element is another operand's, not a scale.
  EXPECT_FALSE(op.getRhsDecoding());
}

} // namespace
