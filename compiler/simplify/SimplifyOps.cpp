/// The walk that applies the rewrites.
#include "compiler/simplify/SimplifyOps.h"
#include "compiler/Passes.h"
#include "compiler/import/Locations.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SIMPLIFYOPS
#include "sinter/generated/Passes.h.inc"

static Value simplifyOnce(Operation *op, OpBuilder &builder, bool exact) {
  if (Value folded = foldConstants(op, builder))
    return folded;
  if (Value viewed = simplifyView(op, builder))
    return viewed;
  if (Value number = simplifyArithmetic(op, exact))
    return number;
  if (Value collapsed = collapseBatches(op, builder, exact))
    return collapsed;
  if (Value laid = layWindows(op, builder))
    return laid;
  if (Value sliced = sliceWindows(op, builder))
    return sliced;
  if (Value turned = turnBeforeSpread(op, builder))
    return turned;
  if (Value turned = turnShortRows(op, builder))
    return turned;
  if (Value turned = turnReduction(op, builder, exact))
    return turned;
  return sinkReshape(op, builder);
}

void simplifyOps(func::FuncOp function, bool exact) {
  Block &block = function.getBody().front();
  OpBuilder builder(function.getContext());
  for (Operation &original :
       llvm::make_early_inc_range(block.without_terminator())) {
    Operation *op = &original;
    // A rewrite may make an op that another rewrite applies to.
    while (op) {
      builder.setInsertionPoint(op);
      Value value = simplifyOnce(op, builder, exact);
      if (!value)
        break;
      Operation *made = value.getDefiningOp();
      bool isNew = made && made->getNextNode() == op && made->use_empty();
      if (isNew)
        made->setLoc(mergeLocations(made->getLoc(), op->getLoc()));
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
      op = isNew ? made : nullptr;
    }
  }
}

namespace {

struct SimplifyOpsPass : impl::SimplifyOpsBase<SimplifyOpsPass> {
  using Base::Base;
  void runOnOperation() override { simplifyOps(mainOf(getOperation()), exact); }
};

} // namespace

} // namespace sinter::compiler
