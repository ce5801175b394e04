/// How views of a kernel's inputs lie in memory.
#include "compiler/analysis/Access.h"

#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

class Access : public testing::Test {
protected:
  Access() {
    context.loadDialect<ir::SinterDialect, mlir::func::FuncDialect>();
  }

  /// The last value of a function of x, of type `input`.
  mlir::Value parse(const std::string &input, const std::string &ops) {
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @f(%x: " + input + ") {\n" + ops + "\nreturn\n}", &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    return std::prev(function.front().end(), 2)->getResult(0);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

TEST_F(Access, StridesOfASliceOfATranspose) {
  mlir::Value value = parse("tensor<6x64xf32>", R"(
    %t = sinter.transpose %x {permutation = array<i64: 1, 0>}
      : (tensor<6x64xf32>) -> tensor<64x6xf32>
    %s = sinter.slice %t {starts = array<i64: 8, 2>,
      limits = affine_map<() -> (40, 6)>, steps = array<i64: 2, 1>}
      : (tensor<64x6xf32>) -> tensor<16x4xf32>)");
  auto view = stridedView(value);
  ASSERT_TRUE(view);
  EXPECT_EQ(constantOf(view->offset), 8 + 2 * 64);
  EXPECT_EQ(constantOf(view->strides[0]), 2);
  EXPECT_EQ(constantOf(view->strides[1]), 64);
  EXPECT_FALSE(view->runs(0));
  EXPECT_EQ(view->divisibleBy(0), 8);
  EXPECT_EQ(view->divisibleBy(1), 2);
  EXPECT_FALSE(isComputed(value));
}

TEST_F(Access, WhatIsFlippedOrPaddedHasNoStrides) {
  EXPECT_FALSE(stridedView(parse("tensor<6xf32>", R"(
    %f = sinter.flip %x {axes = array<i64: 0>}
      : (tensor<6xf32>) -> tensor<6xf32>)")));
  mlir::Value padded = parse("tensor<6xf32>", R"(
    %p = sinter.pad %x {low = array<i64: 4>, shape = affine_map<() -> (12)>,
      interior = array<i64: 0>, value = 0 : i64}
      : (tensor<6xf32>) -> tensor<12xf32>)");
  EXPECT_FALSE(stridedView(padded));
  EXPECT_TRUE(isComputed(padded));
  EXPECT_EQ(neighboursAlong(padded, 0), 2);
  EXPECT_EQ(interiorOf(padded, 0).low, 4);
  EXPECT_EQ(interiorOf(padded, 0).high, 10);
}

StridedView viewOf(mlir::MLIRContext *context, int64_t offset,
                   llvm::ArrayRef<int64_t> strides) {
  StridedView view{0, mlir::getAffineConstantExpr(offset, context), {}};
  for (int64_t stride : strides)
    view.strides.push_back(mlir::getAffineConstantExpr(stride, context));
  return view;
}

TEST_F(Access, LinesBeginAtMultiples) {
  EXPECT_EQ(viewOf(&context, 0, {64, 1}).divisibleBy(1), 64);
  EXPECT_EQ(viewOf(&context, 0, {33, 1}).divisibleBy(1), 33);
  EXPECT_EQ(viewOf(&context, 4, {64, 1}).divisibleBy(1), 4);
}

} // namespace
} // namespace sinter::compiler
