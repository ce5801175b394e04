/// WideIntegers: MLIR's patterns for arithmetic and memory, and for the rest
/// those that change types alone.
#include "compiler/target/vulkan/WideIntegers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/WideIntEmulationConverter.h"
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
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ShLIOp, arith::ShRSIOp,
             arith::ShRUIOp, arith::CmpIOp, arith::ConstantOp, arith::MinSIOp,
             arith::MinUIOp, arith::MaxSIOp, arith::MaxUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp,
             arith::IndexCastUIOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::FPToSIOp, arith::FPToUIOp, arith::SelectOp, memref::LoadOp,
             memref::StoreOp, memref::AllocaOp, scf::ForOp, scf::IfOp,
             scf::WhileOp, scf::YieldOp, scf::ConditionOp, func::FuncOp,
             UnrealizedConversionCastOp>(op);
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
               Retype<UnrealizedConversionCastOp>>(converter, context);
  return applyPartialConversion(function, target, std::move(patterns));
}

} // namespace sinter::compiler
