/// Cost estimates of ops.
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/View.h"

#include "mlir/IR/AffineExprVisitor.h"
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

bool isNumber(Value value) {
  return llvm::all_of(dimsOf(value.getType()), [](AffineExpr dim) {
    auto constant = dyn_cast<AffineConstantExpr>(dim);
    return constant && constant.getValue() == 1;
  });
}

bool isReshape(Operation *op) { return isa<ir::ReshapeOp>(op); }

bool isBroadcast(Operation *op) { return isa<ir::BroadcastOp>(op); }

bool isJoin(Operation *op) { return isa<ir::ConcatOp>(op); }

bool selectsByPosition(Operation *op) {
  return isa<ir::PadOp, ir::ConcatOp>(op);
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
