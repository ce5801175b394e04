/// How a tensor inside a kernel lies in memory, without emitting anything.
#include "compiler/lower/Access.h"

#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

static bool reshapeRunsAlong(ir::ReshapeOp op, unsigned dim) {
  Shape outer = shapeOf(op.getResult()), inner = shapeOf(op.getX());
  MLIRContext *context = op.getContext();
  AffineExpr below = product(outer, dim + 1, outer.size(), context);
  for (unsigned from = 0; from < inner.size(); ++from)
    if (inner[from] == outer[dim] &&
        product(inner, from + 1, inner.size(), context) == below)
      return runsAlong(op.getX(), from);
  return false;
}

static bool viewRunsAlong(Operation *op, unsigned dim) {
  Value operand = op->getOperand(0);
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return reshapeRunsAlong(reshape, dim);
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return runsAlong(operand, transpose.getPermutation()[dim]);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return slice.getSteps()[dim] == 1 && runsAlong(operand, dim);
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return !llvm::is_contained(flip.getAxes(), int64_t(dim)) &&
           runsAlong(operand, dim);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) {
    Shape outer = shapeOf(broadcast.getResult()), inner = shapeOf(operand);
    unsigned offset = outer.size() - inner.size();
    if (dim < offset || inner[dim - offset] != outer[dim])
      return true;
    return runsAlong(operand, dim - offset);
  }
  return llvm::all_of(op->getOperands(),
                      [&](Value part) { return runsAlong(part, dim); });
}

bool runsAlong(Value tensor, unsigned dim) {
  Shape shape = shapeOf(tensor);
  Operation *op = tensor.getDefiningOp();
  if (isOne(shape[dim]))
    return true;
  if (!op)
    return dim + 1 == shape.size();
  switch (cast<ir::SinterOpInterface>(op).getPatternKind()) {
  case graph::PatternKind::pointwise:
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return runsAlong(operand, dim); });
  case graph::PatternKind::view:
    return viewRunsAlong(op, dim);
  case graph::PatternKind::source:
  case graph::PatternKind::random:
    return true;
  default:
    return false;
  }
}

bool isComputed(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (isa<ir::FlipOp, ir::PadOp, ir::ConcatOp>(op) ||
      cast<ir::SinterOpInterface>(op).getPatternKind() !=
          graph::PatternKind::view)
    return true;
  return isComputed(op->getOperand(0));
}

} // namespace sinter::compiler
