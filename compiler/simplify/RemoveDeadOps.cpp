/// Dead code.
#include "compiler/Passes.h"
#include "compiler/simplify/SimplifyOps.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_REMOVEDEADOPS
#include "sinter/generated/Passes.h.inc"

void removeDeadOps(func::FuncOp function) {
  Block &block = function.getBody().front();
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(block.without_terminator())))
    if (op.use_empty())
      op.erase();
}

namespace {

struct RemoveDeadOpsPass : impl::RemoveDeadOpsBase<RemoveDeadOpsPass> {
  using Base::Base;
  void runOnOperation() override { removeDeadOps(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
