/// WideIntegers: MLIR's patterns for arithmetic and memory, and for the rest
/// those that change types alone.
#include "compiler/target/vulkan/WideIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/WideIntEmulationConverter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

bool isWide(Type type) {
  if (auto memory = dyn_cast<MemRefType>(type))
    type = memory.getElementType();
  return getElementTypeOrSelf(type).isInteger(64);
}

// Whether an op is rewritten below.
bool hasPattern(Operation *op) {
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return op->getResult(0).getType().isF32();
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::ShRUIOp, arith::CmpIOp, arith::ConstantOp, arith::MinSIOp,
             arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
             arith::IndexCastUIOp, arith::FPToSIOp, arith::FPToUIOp,
             arith::SelectOp, memref::LoadOp, memref::StoreOp, memref::AllocaOp,
             scf::ForOp, scf::IfOp, scf::WhileOp, scf::YieldOp,
             scf::ConditionOp, func::FuncOp, UnrealizedConversionCastOp>(op);
}

LogicalResult checkOps(func::FuncOp function) {
  Operation *unknown = nullptr;
  function.walk([&](Operation *op) {
    bool usesWide = llvm::any_of(op->getOperandTypes(), isWide) ||
                    llvm::any_of(op->getResultTypes(), isWide);
    if (!unknown && usesWide && !hasPattern(op))
      unknown = op;
  });
  if (!unknown)
    return success();
  return function.emitError("kernel ")
         << function.getName() << " needs " << unknown->getName()
         << " of i64 (shaderInt64), which the device's profile lacks";
}

// The same op with other types.
template <typename Op> struct Retype : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(this->getTypeConverter()->convertTypes(op->getResultTypes(),
                                                      types)))
      return failure();
    rewriter.replaceOpWithNewOp<Op>(op, types, adaptor.getOperands(),
                                    op->getAttrs());
    return success();
  }
};

// To f32 with one rounding: the 32 highest bits that count, of which the lowest
// also says whether any below them is set, are rounded by the device.
template <typename Op> struct RoundOnce : OpConversionPattern<Op> {
  RoundOnce(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern<Op>(converter, context, PatternBenefit(2)) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value number = op.getIn();
    if (!number.getType().isInteger(64))
      return failure();
    auto constant = [&](Type type, int64_t value) -> Value {
      return arith::ConstantOp::create(rewriter, loc,
                                       rewriter.getIntegerAttr(type, value));
    };
    Type i32 = rewriter.getI32Type(), i64 = rewriter.getI64Type();
    Type f32 = rewriter.getF32Type();
    Value isNegative;
    if (isa<arith::SIToFPOp>(op)) {
      Value zero = constant(i64, 0);
      isNegative = arith::CmpIOp::create(
          rewriter, loc, arith::CmpIPredicate::slt, number, zero);
      number = arith::SelectOp::create(
          rewriter, loc, isNegative,
          arith::SubIOp::create(rewriter, loc, zero, number), number);
    }
    auto upper = [&](Value wide) -> Value {
      return arith::TruncIOp::create(
          rewriter, loc, i32,
          arith::ShRUIOp::create(rewriter, loc, wide, constant(i64, 32)));
    };
    Value zeros =
        math::CountLeadingZerosOp::create(rewriter, loc, upper(number));
    number = arith::ShLIOp::create(
        rewriter, loc, number,
        arith::ExtUIOp::create(rewriter, loc, i64, zeros));
    Value rest = arith::TruncIOp::create(rewriter, loc, i32, number);
    Value isCut = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                        rest, constant(i32, 0));
    Value word =
        arith::OrIOp::create(rewriter, loc, upper(number),
                             arith::ExtUIOp::create(rewriter, loc, i32, isCut));
    // Times a power of two, whose exponent has a bias of 127.
    Value exponent =
        arith::SubIOp::create(rewriter, loc, constant(i32, 127 + 32), zeros);
    Value scale = arith::BitcastOp::create(
        rewriter, loc, f32,
        arith::ShLIOp::create(rewriter, loc, exponent, constant(i32, 23)));
    Value result = arith::MulFOp::create(
        rewriter, loc, arith::UIToFPOp::create(rewriter, loc, f32, word),
        scale);
    if (isNegative)
      result = arith::SelectOp::create(
          rewriter, loc, isNegative,
          arith::NegFOp::create(rewriter, loc, result), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

} // namespace

LogicalResult emulateWideIntegers(func::FuncOp function) {
  if (failed(checkOps(function)))
    return failure();
  constexpr unsigned widest = 32;
  MLIRContext *context = function.getContext();
  arith::WideIntEmulationConverter converter(widest);
  memref::populateMemRefWideIntEmulationConversions(converter);
  RewritePatternSet patterns(context);
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
    return converter.isSignatureLegal(op.getFunctionType());
  });
  arith::populateArithWideIntEmulationPatterns(converter, patterns);
  memref::populateMemRefWideIntEmulationPatterns(converter, patterns);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                 converter);
  patterns.add<Retype<arith::SelectOp>, Retype<memref::AllocaOp>,
               Retype<UnrealizedConversionCastOp>, RoundOnce<arith::SIToFPOp>,
               RoundOnce<arith::UIToFPOp>>(converter, context);
  return applyPartialConversion(function, target, std::move(patterns));
}

} // namespace sinter::compiler
