/// Reshapes of a contraction's result move below the pointwise ops that read
/// them, so that these see the shape that the contraction's kernel walks.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// Whether a contraction made the value, or pointwise ops made it of a value of
// the same shape that is.
static bool isOfContraction(Value value) {
  constexpr unsigned mostOps = 32;
  llvm::SmallPtrSet<Operation *, 8> seen;
  SmallVector<Value> pending{value};
  while (!pending.empty() && seen.size() < mostOps) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    auto described = dyn_cast_or_null<ir::SinterOpInterface>(op);
    if (!described || !seen.insert(op).second)
      continue;
    if (described.getPatternKind() == PatternKind::contraction)
      return true;
    if (described.getPatternKind() == PatternKind::pointwise)
      llvm::append_range(pending, op->getOperands());
  }
  return false;
}

static ir::ReshapeOp contractionReshape(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto reshape = operand.getDefiningOp<ir::ReshapeOp>())
      if (isOfContraction(reshape.getX()))
        return reshape;
  return {};
}

Value sinkReshape(Operation *op, OpBuilder &builder) {
  auto described = dyn_cast<ir::SinterOpInterface>(op);
  if (!described || described.getPatternKind() != PatternKind::pointwise)
    return {};
  ir::ReshapeOp found = contractionReshape(op);
  if (!found)
    return {};
  SmallVector<AffineExpr> dims = dimsOf(found.getX().getType());
  unsigned symbols = found.getShape().getNumSymbols();
  auto shape = shapeAttr(op->getContext(), dims, symbols);
  auto typeFor = [&](Value value) {
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return tensorType(element, dims, symbols);
  };
  OperationState state(op->getLoc(), op->getName());
  for (Value operand : op->getOperands()) {
    auto inner = operand.getDefiningOp<ir::ReshapeOp>();
    Value base = inner ? inner.getX() : operand;
    if (dimsOf(base.getType()) != dims) {
      auto view = ir::ReshapeOp::create(builder, op->getLoc(), typeFor(operand),
                                        base, shape);
      Value number = foldConstants(view, builder);
      base = number ? number : view.getResult();
    }
    state.addOperands(base);
  }
  state.addAttributes(op->getAttrs());
  state.addTypes(typeFor(op->getResult(0)));
  Value moved = builder.create(state)->getResult(0);
  Type type = op->getResult(0).getType();
  return ir::ReshapeOp::create(
      builder, op->getLoc(), type, moved,
      shapeAttr(op->getContext(), dimsOf(type), symbols));
}

} // namespace sinter::compiler
