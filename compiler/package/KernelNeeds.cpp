/// Sizes and equalities, from the ops of a kernel.
#include "compiler/package/KernelNeeds.h"
#include "compiler/analysis/Access.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/InferShape.h"
#include "sinter/generated/classes/View.h"

using namespace mlir;

namespace sinter::compiler {

static void addEqual(AffineExpr lhs, AffineExpr rhs, KernelNeeds &needs) {
  if (lhs != rhs)
    needs.equal.insert({lhs, rhs});
}

// As shape rules say that a difference is not negative.
static void addNotNegative(AffineExpr expr, KernelNeeds &needs) {
  addEqual(expr.floorDiv(int64_t(1) << 31),
           getAffineConstantExpr(0, expr.getContext()), needs);
}

// What a shape rule sees of such a slice begins at its start. A pad reads
// nothing beyond its operand, wherever that lies.
static void addOffsets(ir::SliceOp slice, KernelNeeds &needs) {
  auto offsets = slice->getAttrOfType<AffineMapAttr>(offsetsAttr);
  if (!offsets)
    return;
  auto dims = dimsOf(slice->getOperand(0).getType());
  for (auto [offset, dim, limit] :
       llvm::zip(offsets.getValue().getResults(), dims,
                 slice.getLimits().getResults())) {
    if (isZero(offset))
      continue;
    addNotNegative(offset, needs);
    addNotNegative(dim - limit - offset, needs);
  }
}

FailureOr<KernelNeeds> needsOf(program::KernelOp kernel) {
  KernelNeeds needs;
  for (BlockArgument input : kernel.getInputs())
    needs.bufferBytes.push_back(byteCount(input.getType()));
  for (Value output : kernel.getOutputs())
    needs.bufferBytes.push_back(byteCount(output.getType()));
  MLIRContext *context = kernel.getContext();
  for (Operation &op : kernel.getBlock().without_terminator()) {
    FailureOr<ir::InferredShape> inferred = ir::inferShape(&op);
    if (failed(inferred))
      return failure();
    for (auto [lhs, rhs] : inferred->equalities)
      addEqual(ir::affineOf(context, lhs), ir::affineOf(context, rhs), needs);
    for (auto [declared, dim] :
         llvm::zip(dimsOf(op.getResult(0).getType()), inferred->type.dims))
      addEqual(declared, ir::affineOf(context, dim), needs);
    if (auto slice = dyn_cast<ir::SliceOp>(op))
      addOffsets(slice, needs);
  }
  return needs;
}

} // namespace sinter::compiler
