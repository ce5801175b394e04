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

// Whether the op, or the body of the loop that it is, can report an error. A
// loop with a condition reports that it makes more launches than a run may.
static bool canReport(Operation &op) {
  return op
      .walk([](Operation *inner) {
        auto launch = dyn_cast<program::LaunchOp>(inner);
        auto loop = dyn_cast<program::ForOp>(inner);
        bool reports =
            (launch && launch.getErrorNode()) || (loop && loop.getCondition());
        return reports ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

static void moveToEnd(ArrayRef<Operation *> ops, Operation *terminator) {
  for (Operation *op : ops)
    op->moveBefore(terminator);
}

namespace {

/// Places launches that only make results behind the last of the others that
/// they wait for: what they read need not be kept any longer, and results have
/// their memory from the beginning.
class ResultPlacer {
public:
  explicit ResultPlacer(ArrayRef<Operation *> others) {
    for (auto [index, op] : llvm::enumerate(others))
      position[op] = int(index);
  }
  /// Leaves a launch that waits for none of them where it is.
  void place(program::LaunchOp launch);

private:
  void waitFor(Operation *op) {
    auto known = position.find(op);
    if (known != position.end() && (!last || position[last] < known->second))
      last = op;
  }
  void waitForReaders(Value state);

  llvm::DenseMap<Operation *, int> position;
  llvm::DenseMap<Operation *, Operation *> end; ///< what was placed behind it
  Operation *last = nullptr;
};

} // namespace

// Also through reshapes between launches.
void ResultPlacer::waitForReaders(Value state) {
  for (Operation *user : state.getUsers())
    if (position.contains(user)) {
      waitFor(user);
      if (!isa<program::LaunchOp, program::ForOp>(user))
        waitForReaders(user->getResult(0));
    }
}

// State that it reads may become its result: its other readers come before.
void ResultPlacer::place(program::LaunchOp launch) {
  last = nullptr;
  for (Value input : launch.getInputs()) {
    if (Operation *maker = input.getDefiningOp()) {
      if (!position.contains(maker))
        return;
      waitFor(maker);
    }
    if (Value whole = behindRenames(input); isa<BlockArgument>(whole))
      waitForReaders(whole);
  }
  if (!last)
    return;
  auto [behind, isNew] = end.try_emplace(last, last);
  launch->moveAfter(behind->second);
  behind->second = launch;
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
  ResultPlacer placer(late);
  for (Operation *op : last)
    if (auto launch = dyn_cast<program::LaunchOp>(op))
      placer.place(launch);
}

namespace {

struct OrderLaunchesPass : impl::OrderLaunchesBase<OrderLaunchesPass> {
  using Base::Base;
  void runOnOperation() override { orderLaunches(mainOf(getOperation())); }
};

} // namespace

} // namespace sinter::compiler
