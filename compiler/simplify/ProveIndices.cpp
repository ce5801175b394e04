/// Positions that cannot be out of range are not checked.
#include "compiler/Passes.h"
#include "compiler/analysis/Marks.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/ValueBounds.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_PROVEINDICES
#include "sinter/generated/Passes.h.inc"

using graph::PatternKind;

namespace {

struct ProveIndicesPass : impl::ProveIndicesBase<ProveIndicesPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp function = mainOf(getOperation());
    ValueBounds bounds(function);
    for (Operation &op : function.getBody().front().without_terminator()) {
      PatternKind kind = kindOf(&op);
      if (kind != PatternKind::gather && kind != PatternKind::scatter)
        continue;
      auto axis = op.getAttrOfType<IntegerAttr>("axis");
      AffineExpr extent = dimsOf(op.getOperand(0).getType())[axis.getInt()];
      if (bounds.areWithin(op.getOperand(positionsOperand), extent))
        op.setAttr(checkedAttr, UnitAttr::get(&getContext()));
    }
  }
};

} // namespace

} // namespace sinter::compiler
