/// Arithmetic with neutral elements, where no bit of a result can differ.
#include "compiler/analysis/OpsBehind.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"

using namespace mlir;

namespace sinter::compiler {

// Whether one number fills the tensor, and it is this one (0.0 is not -0.0).
static bool isFilledWith(Value value, double number) {
  TypedAttr fill = fillOf(value);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(fill))
    return double(integer.getInt()) == number && !std::signbit(number);
  auto real = dyn_cast_or_null<FloatAttr>(fill);
  return real && real.getValue().bitwiseIsEqual(APFloat(number));
}

static bool isInteger(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return isa<IntegerType>(type.getElementType()) &&
         !type.getElementType().isInteger(1);
}

// x + 0 is x for integers; for floats only x + -0 is.
static Value simplifyAdd(ir::AddOp op) {
  double neutral = isInteger(op.getLhs()) ? 0.0 : -0.0;
  if (isFilledWith(op.getRhs(), neutral))
    return op.getLhs();
  if (isFilledWith(op.getLhs(), neutral))
    return op.getRhs();
  return {};
}

static Value simplifyMul(ir::MulOp op) {
  if (isFilledWith(op.getRhs(), 1))
    return op.getLhs();
  if (isFilledWith(op.getLhs(), 1))
    return op.getRhs();
  return {};
}

static Value simplifyNeg(ir::NegOp op) {
  auto inner = op.getX().getDefiningOp<ir::NegOp>();
  return inner ? inner.getX() : Value();
}

static Value simplifyWhere(ir::WhereOp op) {
  if (op->getOperand(1) == op->getOperand(2))
    return op->getOperand(1);
  if (isFilledWith(op->getOperand(0), 1))
    return op->getOperand(1);
  if (isFilledWith(op->getOperand(0), 0))
    return op->getOperand(2);
  return {};
}

// The operand that stands for the result, whatever NaNs it holds.
static Value sameNumber(Operation *op) {
  if (auto add = dyn_cast<ir::AddOp>(op))
    return simplifyAdd(add);
  if (auto sub = dyn_cast<ir::SubOp>(op))
    return isFilledWith(sub.getRhs(), 0) ? sub.getLhs() : Value();
  if (auto mul = dyn_cast<ir::MulOp>(op))
    return simplifyMul(mul);
  if (auto div = dyn_cast<ir::DivOp>(op))
    return isFilledWith(div.getRhs(), 1) ? div.getLhs() : Value();
  if (auto neg = dyn_cast<ir::NegOp>(op))
    return simplifyNeg(neg);
  if (auto where = dyn_cast<ir::WhereOp>(op))
    return simplifyWhere(where);
  if (auto cast = dyn_cast<ir::CastOp>(op))
    return cast.getX().getType() == cast.getType() ? cast.getX() : Value();
  return {};
}

// Arithmetic makes NaNs canonical; an operand that nobody computed may hold
// others, which an op that is left out would have changed.
static bool mayHoldOtherNans(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return isa<FloatType>(type.getElementType()) &&
         !isArithmetic(value.getDefiningOp());
}

Value simplifyArithmetic(Operation *op, bool exact) {
  Value value = sameNumber(op);
  return value && exact && mayHoldOtherNans(value) ? Value() : value;
}

} // namespace sinter::compiler
