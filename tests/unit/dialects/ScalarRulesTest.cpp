/// Scalar bodies on constants, folded by arith and math: what docs/semantics.md
/// says of elements.
#include "dialects/sinter/ScalarRules.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The constant that a value folds to.
Attribute fold(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant;
  Operation *op = value.getDefiningOp();
  llvm::SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    operands.push_back(fold(operand));
  // Folding leaves a rounding that loses something to the target.
  if (isa<arith::TruncFOp>(op)) {
    auto type = cast<FloatType>(op->getResult(0).getType());
    APFloat number = cast<FloatAttr>(operands[0]).getValue();
    bool losesInfo;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return FloatAttr::get(type, number);
  }
  llvm::SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)))
    return {};
  if (auto attribute = dyn_cast<Attribute>(results[0]))
    return attribute;
  return fold(cast<Value>(results[0]));
}

class ScalarRules : public testing::Test {
protected:
  ScalarRules() : builder(&context) {
    context.loadDialect<ir::SinterDialect, arith::ArithDialect,
                        math::MathDialect, func::FuncDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto function =
        func::FuncOp::create(builder, builder.getUnknownLoc(), "operands",
                             builder.getFunctionType({}, {}));
    body = builder.createBlock(&function.getBody());
  }

  /// The op on rank-0 tensors of `dtypes`.
  Operation *makeOp(StringRef name, llvm::ArrayRef<DType> dtypes, DType result,
                    llvm::ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(builder.getUnknownLoc(), ("sinter." + name).str());
    for (DType dtype : dtypes)
      state.addOperands(body->addArgument(tensor(dtype), state.location));
    state.addAttributes(attributes);
    state.addTypes(tensor(result));
    return builder.create(state);
  }
  RankedTensorType tensor(DType dtype) {
    return RankedTensorType::get({}, ir::elementType(&context, dtype));
  }
  Value constant(DType dtype, double value) {
    Type type = ir::elementType(&context, dtype);
    if (isa<FloatType>(type))
      return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                       builder.getFloatAttr(type, value));
    unsigned width = type.getIntOrFloatBitWidth();
    auto signless = builder.getIntegerType(width);
    APInt bits(width, uint64_t(int64_t(value)), true, true);
    return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                     builder.getIntegerAttr(signless, bits));
  }
  double emit(Operation *op, llvm::ArrayRef<double> values) {
    llvm::SmallVector<Value> operands;
    for (auto [operand, value] : llvm::zip(op->getOperandTypes(), values))
      operands.push_back(constant(
          *ir::dtypeOf(cast<RankedTensorType>(operand).getElementType()),
          value));
    Type element =
        cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    Value result = cast<ir::PointwiseOpInterface>(op).emitScalar(
        builder, op->getLoc(), operands, element);
    Attribute folded = fold(result);
    if (auto number = dyn_cast_or_null<FloatAttr>(folded))
      return number.getValueAsDouble();
    auto integer = dyn_cast_or_null<IntegerAttr>(folded);
    EXPECT_TRUE(integer) << "did not fold";
    if (!integer)
      return nan;
    return element.isUnsignedInteger() || element.isInteger(1)
               ? double(integer.getValue().getZExtValue())
               : double(integer.getValue().getSExtValue());
  }
  double unary(StringRef name, DType dtype, double x) {
    return emit(makeOp(name, dtype, dtype), x);
  }
  double binary(StringRef name, DType dtype, double lhs, double rhs) {
    return emit(makeOp(name, {dtype, dtype}, dtype), {lhs, rhs});
  }
  double convert(DType from, DType to, double x) {
    NamedAttribute dtype = builder.getNamedAttr(
        "dtype", TypeAttr::get(ir::elementType(&context, to)));
    return emit(makeOp("cast", from, to, dtype), x);
  }
  double compare(StringRef predicate, DType dtype, double lhs, double rhs) {
    NamedAttribute attribute =
        builder.getNamedAttr("predicate", builder.getStringAttr(predicate));
    return emit(makeOp("compare", {dtype, dtype}, DType::boolean, attribute),
                {lhs, rhs});
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  Block *body;
};

TEST_F(ScalarRules, Arithmetic) {
  EXPECT_EQ(binary("add", DType::f32, 1.5, 2), 3.5);
  EXPECT_EQ(binary("add", DType::i8, 127, 1), -128);
  EXPECT_EQ(binary("sub", DType::u8, 1, 2), 255);
  EXPECT_EQ(binary("mul", DType::i32, -3, 4), -12);
  EXPECT_EQ(unary("neg", DType::i64, 5), -5);
  EXPECT_EQ(unary("neg", DType::f64, 5), -5);
  EXPECT_EQ(binary("add", DType::boolean, 1, 1), 1);
  EXPECT_EQ(binary("mul", DType::boolean, 1, 0), 0);
}

TEST_F(ScalarRules, SmallFloatsAreRoundedOnce) {
  // 2048 + 1 has no f16; ties go to even.
  EXPECT_EQ(binary("add", DType::f16, 2048, 1), 2048);
  EXPECT_EQ(binary("add", DType::f16, 2050, 1), 2052);
  EXPECT_EQ(binary("mul", DType::bf16, 1.0078125, 1.0078125), 1.015625);
}

TEST_F(ScalarRules, IntegerDivision) {
  EXPECT_EQ(binary("div", DType::i32, 7, 2), 3);
  EXPECT_EQ(binary("div", DType::i32, -7, 2), -3);
  EXPECT_EQ(binary("div", DType::i32, 7, 0), -1);
  EXPECT_EQ(binary("div", DType::i8, -128, -1), -128);
  EXPECT_EQ(binary("div", DType::u8, 200, 7), 28);
  EXPECT_EQ(binary("div", DType::u8, 200, 0), 255);
  EXPECT_EQ(binary("div", DType::u32, 4294967295, 2), 2147483647);
  EXPECT_EQ(binary("div", DType::f32, 1, 0), infinity);
}

TEST_F(ScalarRules, ExtremaPropagateNan) {
  EXPECT_TRUE(std::isnan(binary("maximum", DType::f32, 1, nan)));
  EXPECT_TRUE(std::isnan(binary("minimum", DType::f32, nan, 1)));
  EXPECT_EQ(binary("maximum", DType::i8, -1, 1), 1);
  EXPECT_EQ(binary("maximum", DType::u8, 255, 1), 255);
  EXPECT_EQ(binary("minimum", DType::boolean, 1, 0), 0);
}

TEST_F(ScalarRules, Comparison) {
  EXPECT_EQ(compare("lt", DType::i8, -1, 1), 1);
  EXPECT_EQ(compare("lt", DType::u8, 255, 1), 0);
  EXPECT_EQ(compare("lt", DType::u32, 4294967295, 1), 0);
  EXPECT_EQ(compare("ge", DType::boolean, 1, 0), 1);
  EXPECT_EQ(compare("eq", DType::f32, nan, nan), 0);
  EXPECT_EQ(compare("ne", DType::f32, nan, nan), 1);
  EXPECT_EQ(compare("le", DType::f32, 1, nan), 0);
  EXPECT_EQ(compare("gt", DType::bf16, 2, 1), 1);
}

TEST_F(ScalarRules, FloatToIntegerSaturates) {
  EXPECT_EQ(convert(DType::f32, DType::i32, 2.9), 2);
  EXPECT_EQ(convert(DType::f32, DType::i32, -2.9), -2);
  EXPECT_EQ(convert(DType::f32, DType::i32, 3e9), 2147483647.0);
  EXPECT_EQ(convert(DType::f32, DType::i32, -infinity), -2147483648.0);
  EXPECT_EQ(convert(DType::f64, DType::i32, -2147483648.5), -2147483648.0);
  EXPECT_EQ(convert(DType::f32, DType::i8, 127.9), 127);
  EXPECT_EQ(convert(DType::f32, DType::i8, 128), 127);
  EXPECT_EQ(convert(DType::f32, DType::u8, 256), 255);
  EXPECT_EQ(convert(DType::f32, DType::u8, -0.5), 0);
  EXPECT_EQ(convert(DType::f32, DType::u8, -7), 0);
  EXPECT_EQ(convert(DType::f16, DType::i16, 1000), 1000);
  EXPECT_EQ(convert(DType::f64, DType::i64, 1e30),
            double(std::numeric_limits<int64_t>::max()));
  EXPECT_EQ(convert(DType::f32, DType::i32, nan), 0);
  EXPECT_EQ(convert(DType::f64, DType::u8, nan), 0);
}

TEST_F(ScalarRules, OtherConversions) {
  EXPECT_EQ(convert(DType::f32, DType::boolean, 0.5), 1);
  EXPECT_EQ(convert(DType::f32, DType::boolean, -0.0), 0);
  EXPECT_EQ(convert(DType::f32, DType::boolean, nan), 1);
  EXPECT_EQ(convert(DType::i32, DType::boolean, 256), 1);
  EXPECT_EQ(convert(DType::i32, DType::i8, 300), 44);
  EXPECT_EQ(convert(DType::i8, DType::u8, -1), 255);
  EXPECT_EQ(convert(DType::u8, DType::i32, 255), 255);
  EXPECT_EQ(convert(DType::i8, DType::i32, -1), -1);
  EXPECT_EQ(convert(DType::u8, DType::f32, 255), 255);
  EXPECT_EQ(convert(DType::boolean, DType::f16, 1), 1);
  EXPECT_EQ(convert(DType::i32, DType::bf16, 257), 256);
  EXPECT_EQ(convert(DType::f32, DType::f16, 1e6), infinity);
  EXPECT_EQ(convert(DType::bf16, DType::f16, 1.5), 1.5);
  // Above the tie of two f16, but rounded to it in f32.
  EXPECT_EQ(convert(DType::f64, DType::f16, 2049.0 + 1e-9), 2048);
  EXPECT_EQ(convert(DType::f16, DType::f64, 0.25), 0.25);
}

TEST_F(ScalarRules, Functions) {
  EXPECT_NEAR(unary("exp", DType::f32, 1), std::exp(1.0), 1e-6);
  EXPECT_NEAR(unary("log", DType::f64, 2), std::log(2.0), 1e-15);
  EXPECT_NEAR(unary("tanh", DType::f16, 0.5), std::tanh(0.5), 1e-3);
  EXPECT_NEAR(unary("sqrt", DType::bf16, 2), std::sqrt(2.0), 1e-2);
}

TEST_F(ScalarRules, Vectors) {
  auto vector = VectorType::get({4}, builder.getBF16Type());
  Value operand = arith::ConstantOp::create(
      builder, builder.getUnknownLoc(),
      DenseElementsAttr::get(vector,
                             builder.getFloatAttr(builder.getBF16Type(), 3.0)));
  NamedAttribute dtype = builder.getNamedAttr(
      "dtype", TypeAttr::get(ir::elementType(&context, DType::u8)));
  Operation *op = makeOp("cast", DType::bf16, DType::u8, dtype);
  Value result = cast<ir::PointwiseOpInterface>(op).emitScalar(
      builder, op->getLoc(), operand, ir::elementType(&context, DType::u8));
  EXPECT_EQ(result.getType(), VectorType::get({4}, builder.getI8Type()));
  EXPECT_TRUE(succeeded(verify(result.getDefiningOp())));
}

TEST_F(ScalarRules, NoBody) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  Operation *op =
      makeOp("sub", {DType::boolean, DType::boolean}, DType::boolean);
  Value one = constant(DType::boolean, 1);
  EXPECT_FALSE(cast<ir::PointwiseOpInterface>(op).emitScalar(
      builder, op->getLoc(), {one, one}, builder.getI1Type()));
  EXPECT_NE(message.find("has no scalar body for"), std::string::npos);
}

} // namespace
