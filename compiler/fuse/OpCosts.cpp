/// Cost estimates of ops.
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

PatternKind kindOf(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind();
}

unsigned rankOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getRank();
}

bool isReshape(Operation *op) { return isa<ir::ReshapeOp>(op); }

bool isBroadcast(Operation *op) { return isa<ir::BroadcastOp>(op); }

// Nanoseconds per element of one scalar op.
static double costOf(Operation *scalar) {
  if (isa<math::MathDialect>(scalar->getDialect()))
    return isa<math::SqrtOp>(scalar) ? 0.3 : 0.5;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(scalar))
    return 0.3;
  return 0.03;
}

double arithmeticCost(Operation *op) {
  if (kindOf(op) == PatternKind::random)
    return 3;
  auto pointwise = dyn_cast<ir::PointwiseOpInterface>(op);
  if (!pointwise)
    return 0.03;
  // Emit the body into a block of its own and look at it.
  MLIRContext *context = op->getContext();
  Location loc = UnknownLoc::get(context);
  Block block;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    if (auto integer = dyn_cast<IntegerType>(element))
      element = IntegerType::get(context, integer.getWidth());
    operands.push_back(block.addArgument(element, loc));
  }
  Type element =
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
  pointwise.emitScalar(builder, loc, operands, element);
  double cost = 0;
  for (Operation &scalar : block)
    cost += costOf(&scalar);
  return cost;
}

SmallVector<int64_t> axesOf(Operation *op) {
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    return SmallVector<int64_t>(axes.asArrayRef());
  if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    return {axis.getInt()};
  return {};
}

double estimate(AffineExpr expr) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(expr).getValue();
  case AffineExprKind::SymbolId:
  case AffineExprKind::DimId:
    return symbolHint;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  double lhs = estimate(binary.getLHS());
  double rhs = estimate(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::Mod:
    return rhs / 2;
  default:
    return rhs != 0 ? lhs / rhs : 0;
  }
}

double estimatedElements(Type type) {
  double count = 1;
  for (AffineExpr dim : dimsOf(type))
    count *= estimate(dim);
  return count;
}

double estimatedBytes(Type type) {
  DType dtype = *dtypeOf(cast<RankedTensorType>(type).getElementType());
  return estimatedElements(type) * byteWidth(dtype);
}

} // namespace sinter::compiler
