/// The order in which launches run.
#include "compiler/Passes.h"
#include "compiler/plan/PlanMemory.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_ORDERLAUNCHES
#include "sinter/generated/Passes.h.inc"

// Whether only the program's results take what the op makes.
static bool isLast(Operation *op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return user == op->getBlock()->getTerminator() ||
           (user->getBlock() == op->getBlock() &&
            !isa<program::LaunchOp, program::ForOp>(user) && isLast(user));
  });
}

// Whether the op, or the body of the loop that it is, can report an error.
static bool canReport(Operation &op) {
  return op
      .walk([](program::LaunchOp launch) {
        return launch.getErrorNode() ? WalkResult::interrupt()
                                     : WalkResult::advance();
      })
      .wasInterrupted();
}

static void moveToEnd(ArrayRef<Operation *> ops, Operation *terminator) {
  for (Operation *op : ops)
    op->moveBefore(terminator);
}

void orderLaunches(func::FuncOp function) {
  Block &block = function.getBody().front();
  // What the launches that can report an error need, backward.
  llvm::DenseSet<Operation *> early;
  for (Operation &op : llvm::reverse(block.without_terminator())) {
    bool needed = llvm::any_of(op.getUsers(), [&](Operation *user) {
      return early.contains(block.findAncestorOpInBlock(*user));
    });
    if (canReport(op) || needed)
      early.insert(&op);
  }
  SmallVector<Operation *> late, last;
  for (Operation &op : block.without_terminator())
    if (!early.contains(&op))
      (isLast(&op) ? last : late).push_back(&op);
  moveToEnd(late, block.getTerminator());
  moveToEnd(last, block.getTerminator());
}

namespace {

struct OrderLaunchesPass : impl::OrderLaunchesBase<OrderLaunchesPass> {
  using Base::Base;
  void runOnOperation() override { orderLaunches(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
