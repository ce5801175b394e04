/// The order in which launches run.
#include "compiler/Passes.h"
#include "compiler/plan/PlanMemory.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_ORDERLAUNCHES
#include "sinter/generated/Passes.h.inc"

void orderLaunches(func::FuncOp function) {
  Block &block = function.getBody().front();
  // What the launches that can report an error need, backward.
  llvm::DenseSet<Operation *> early;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    auto launch = dyn_cast<program::LaunchOp>(op);
    bool reports = launch && launch.getErrorNode();
    bool needed = llvm::any_of(
        op.getUsers(), [&](Operation *user) { return early.contains(user); });
    if (reports || needed)
      early.insert(&op);
  }
  SmallVector<Operation *> late;
  for (Operation &op : block.without_terminator())
    if (!early.contains(&op))
      late.push_back(&op);
  for (Operation *op : late)
    op->moveBefore(block.getTerminator());
}

namespace {

struct OrderLaunchesPass : impl::OrderLaunchesBase<OrderLaunchesPass> {
  using Base::Base;
  void runOnOperation() override { orderLaunches(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
