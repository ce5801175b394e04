/// 16-bit floats that stay narrow.
#include "compiler/target/cuda/NarrowMath.h"

#include "compiler/target/cuda/MachineNan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace sinter::compiler {

// The value of `type` that was widened to `value`, or a number that `type` has.
static Value narrowOf(OpBuilder &builder, Value value, Type type) {
  if (auto wide = value.getDefiningOp<arith::ExtFOp>())
    return wide.getIn().getType() == type ? wide.getIn() : Value();
  llvm::APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return {};
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  bool loses = false;
  number.convert(element.getFloatSemantics(),
                 llvm::APFloat::rmNearestTiesToEven, &loses);
  if (loses)
    return {};
  TypedAttr attribute = builder.getFloatAttr(element, number);
  if (auto vector = dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, attribute);
  return arith::ConstantOp::create(builder, value.getLoc(), attribute);
}

template <typename Op> static bool narrowExtremum(arith::TruncFOp op) {
  auto extremum = op.getIn().getDefiningOp<Op>();
  if (!extremum)
    return false;
  OpBuilder builder(op);
  Value a = narrowOf(builder, extremum.getLhs(), op.getType());
  Value b = a ? narrowOf(builder, extremum.getRhs(), op.getType()) : Value();
  if (!b)
    return false;
  op.replaceAllUsesWith(Op::create(builder, op.getLoc(), a, b).getResult());
  op.erase();
  return true;
}

static void narrowPair(arith::TruncFOp op) {
  auto type = dyn_cast<VectorType>(op.getType());
  if (!type || type.getNumElements() != 2 || !type.getElementType().isF16() ||
      !getElementTypeOrSelf(op.getIn().getType()).isF32())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value low = vector::ExtractOp::create(builder, loc, op.getIn(), 0);
  Value high = vector::ExtractOp::create(builder, loc, op.getIn(), 1);
  auto pair = LLVM::CallIntrinsicOp::create(
      builder, loc, type, builder.getStringAttr("llvm.nvvm.ff2f16x2.rn"),
      {high, low});
  op.replaceAllUsesWith(pair->getResult(0));
  op.erase();
}

// Whether the machine computes it, and gives its own NaN (PTX ISA: canonical
// NaN), not one that passes through.
static bool isComputed(Value bits) {
  auto cast = bits.getDefiningOp<arith::BitcastOp>();
  Operation *op = cast ? cast.getIn().getDefiningOp() : nullptr;
  if (auto narrow = dyn_cast_or_null<arith::TruncFOp>(op))
    op = narrow.getIn().getDefiningOp();
  if (isa_and_nonnull<arith::MaximumFOp, arith::MinimumFOp>(op))
    return isOfMachine(op);
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp,
                         arith::DivFOp, math::FmaOp, vector::FromElementsOp>(
      op);
}

static std::optional<int64_t> splatOf(Value value) {
  if (auto spread = value.getDefiningOp<vector::BroadcastOp>())
    value = spread.getSource();
  llvm::APInt number;
  if (!matchPattern(value, m_ConstantInt(&number)))
    return std::nullopt;
  return number.getSExtValue();
}

// select(magnitude(bits) > infinity, nan, bits): numbers are below its NaN as
// integers with a sign, the machine's NaN is above it.
static void chooseNan(arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpIOp>();
  auto magnitude =
      compare ? compare.getLhs().getDefiningOp<arith::AndIOp>() : nullptr;
  Value bits = op.getFalseValue();
  if (!magnitude || magnitude.getLhs() != bits ||
      compare.getPredicate() != arith::CmpIPredicate::ugt ||
      splatOf(magnitude.getRhs()) != 0x7fff || !isComputed(bits))
    return;
  auto infinity = splatOf(compare.getRhs()), nan = splatOf(op.getTrueValue());
  bool isBf16 = infinity == 0x7f80 && nan == 0x7fc0;
  bool isF16 = infinity == 0x7c00 && nan == 0x7e00;
  if (!isBf16 && !isF16)
    return;
  OpBuilder builder(op);
  op.replaceAllUsesWith(
      arith::MinSIOp::create(builder, op.getLoc(), bits, op.getTrueValue())
          .getResult());
  op.erase();
}

void narrowMath(func::FuncOp function) {
  SmallVector<arith::TruncFOp> ops;
  function.walk([&](arith::TruncFOp op) {
    Type element = getElementTypeOrSelf(op.getType());
    if (element.isBF16() || element.isF16())
      ops.push_back(op);
  });
  for (arith::TruncFOp op : ops)
    if (!narrowExtremum<arith::MaximumFOp>(op) &&
        !narrowExtremum<arith::MinimumFOp>(op))
      narrowPair(op);
  SmallVector<arith::SelectOp> choices;
  function.walk([&](arith::SelectOp op) {
    if (getElementTypeOrSelf(op.getType()).isInteger(16))
      choices.push_back(op);
  });
  for (arith::SelectOp op : choices)
    chooseNan(op);
}

} // namespace sinter::compiler
