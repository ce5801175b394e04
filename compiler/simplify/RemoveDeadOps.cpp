/// Dead code.
#include "compiler/Passes.h"
#include "compiler/simplify/SimplifyOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_REMOVEDEADOPS
#include "sinter/generated/Passes.h.inc"

void removeDeadOps(func::FuncOp function) {
  Block &block = function.getBody().front();
  // Over the block itself: the reverse of another range steps over an op that
  // was erased.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

namespace {

struct RemoveDeadOpsPass : impl::RemoveDeadOpsBase<RemoveDeadOpsPass> {
  using Base::Base;
  void runOnOperation() override { removeDeadOps(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
