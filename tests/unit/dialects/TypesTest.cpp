/// Dtypes, dims and attributes survive the way to graphs and back.
#include "dialects/sinter/Types.h"

#include "dialects/sinter/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

class Types : public testing::Test {
protected:
  Types() {
    context.loadDialect<ir::SinterDialect>();
    context.allowUnregisteredDialects();
  }
  MLIRContext context;
};

TEST_F(Types, DTypes) {
  for (unsigned code = 0; code < numDTypes; ++code) {
    Type element = ir::elementType(&context, DType(code));
    EXPECT_EQ(bool(element), isStorable(DType(code)));
    if (element) {
      EXPECT_EQ(ir::dtypeOf(element), DType(code));
    }
  }
  EXPECT_EQ(ir::dtypeOf(IndexType::get(&context)), std::nullopt);
}

TEST_F(Types, Dims) {
  AffineExpr s0 = getAffineSymbolExpr(0, &context);
  AffineExpr s1 = getAffineSymbolExpr(1, &context);
  AffineExpr exprs[] = {getAffineConstantExpr(7, &context),
                        s0,
                        s0 * 8,
                        s0 + s1 + 3,
                        (s0 * s1).floorDiv(4),
                        (s0 + 5).ceilDiv(2),
                        s1 % 3};
  for (AffineExpr expr : exprs) {
    Dim dim = ir::dimOf(expr);
    EXPECT_EQ(ir::dimOf(ir::affineOf(&context, dim)).expr, dim.expr);
    EXPECT_EQ(ir::dimOf(expr).isConstant(), isa<AffineConstantExpr>(expr));
  }
  RankedTensorType type =
      ir::tensorType(Float32Type::get(&context), {s0, s1 * 2}, 2);
  EXPECT_EQ(ir::dimsOf(type), (llvm::SmallVector<AffineExpr>{s0, s1 * 2}));
  EXPECT_TRUE(
      ir::tensorType(Float32Type::get(&context), exprs[0], 2).hasStaticShape());
}

TEST_F(Types, Attributes) {
  const char *text = R"(
    %x = "test.x"() : () -> tensor<4x8xf32>
    %0 = sinter.pad %x {interior = array<i64: 0, 1>, low = array<i64: 1, 0>,
      shape = affine_map<()[s0] -> (s0, 15)>, value = -2 : i64}
      : (tensor<4x8xf32>) -> tensor<?x15xf32, affine_map<()[s0] -> (s0, 15)>>
    %1 = sinter.compare %x, %x {predicate = "ge"}
      : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %2 = sinter.extent {dtype = bf16, size = affine_map<()[s0] -> (s0 * 2)>}
      : () -> tensor<bf16>
    %3 = sinter.sum %x {axes = array<i64: 0, 1>, keepdims = true}
      : (tensor<4x8xf32>) -> tensor<1x1xf32>
    %w = "test.w"() : () -> tensor<8xf32>
    %4 = sinter.layer_norm %x, %w, %w {eps = 1.0e-5 : f64}
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  )";
  auto module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  unsigned count = 0;
  module->walk([&](ir::SinterOpInterface op) {
    ++count;
    auto words = ir::encodeAttrs(op);
    ASSERT_TRUE(succeeded(words));
    for (NamedAttribute attribute :
         ir::decodeAttrs(&context, op.getOpId(), {words->data(), words->size()},
                         ir::numSymbolsOf(op)))
      EXPECT_EQ(op->getAttr(attribute.getName()), attribute.getValue());
  });
  EXPECT_EQ(count, 5u);
}

} // namespace
