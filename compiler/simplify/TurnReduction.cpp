/// A reduction of a transpose reduces what is transposed.
#include "compiler/analysis/Access.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

// Whether neighbours in memory are no longer neighbours along the last axis.
static bool turnsLines(const ir::Permuted &permuted) {
  auto dims = dimsOf(permuted.operand.getType());
  return permuted.permutation.back() + 1 != int64_t(dims.size()) &&
         estimate(dims.back()) >= fewestTogether &&
         runsAlong(permuted.operand, dims.size() - 1);
}

// The same elements are reduced for each result, in the order in which they lie
// in memory. Those that stay have to stay in their order.
Value turnReduction(Operation *op, OpBuilder &builder, bool exact) {
  if (exact || kindOf(op) != graph::PatternKind::reduction ||
      op->getNumOperands() != 1)
    return {};
  auto permuted = ir::permutedOperand(op->getOperand(0));
  // Others would read it turned in any case.
  if (!permuted || !op->getOperand(0).hasOneUse() || !turnsLines(*permuted))
    return {};
  SmallVector<int64_t> axes = axesOf(op), before;
  int64_t last = -1;
  for (auto [axis, source] : llvm::enumerate(permuted->permutation)) {
    if (llvm::is_contained(axes, int64_t(axis))) {
      before.push_back(source);
      continue;
    }
    if (source < last)
      return {};
    last = source;
  }
  llvm::sort(before);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto dims = dimsOf(permuted->operand.getType());
  bool keepsDims = size_t(result.getRank()) == dims.size();
  SmallVector<AffineExpr> made;
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    bool isReduced = llvm::is_contained(before, int64_t(axis));
    if (!isReduced)
      made.push_back(dim);
    else if (keepsDims)
      made.push_back(builder.getAffineConstantExpr(1));
  }
  unsigned symbols = numSymbolsOf(op);
  Type type = tensorType(result.getElementType(), made, symbols);
  Operation *turned = builder.clone(*op);
  turned->setOperands(permuted->operand);
  turned->getResult(0).setType(type);
  if (turned->hasAttr("axes"))
    turned->setAttr("axes", builder.getDenseI64ArrayAttr(before));
  else
    turned->setAttr("axis", builder.getI64IntegerAttr(before.front()));
  if (type == result)
    return turned->getResult(0);
  return ir::ReshapeOp::create(builder, op->getLoc(), result,
                               turned->getResult(0), shapeAttr(result));
}

} // namespace sinter::compiler
