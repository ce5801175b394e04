/// Segments of a block with loops.
#include "compiler/fuse/SplitAtLoops.h"
#include "compiler/fuse/OpCosts.h"
#include "dialects/program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

namespace {

/// Levels of ops: segment 0, the loops of level 0, segment 1, and so on.
class Splitter {
public:
  explicit Splitter(Block &block) : block(block) {}

  SmallVector<Segment> run();

private:
  bool isLoop(Operation *op) const { return isa<program::ForOp>(op); }
  unsigned readyAt(Operation *op) const;
  void levelLoops();
  void levelOps();
  void placeInlined(Operation *op);
  unsigned neededAt(Operation *op) const;
  void reorder();
  SmallVector<Segment> segments();

  Block &block;
  llvm::DenseMap<Operation *, unsigned> level;
  unsigned last = 0; ///< the terminator's level
};

} // namespace

// The first level at which all that the op reads is there.
unsigned Splitter::readyAt(Operation *op) const {
  unsigned ready = 0;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *from = operand.getDefiningOp();
      if (from && from->getBlock() == &block)
        ready = std::max(ready, level.lookup(from) + isLoop(from));
    }
  });
  return ready;
}

void Splitter::levelLoops() {
  for (Operation &op : block.without_terminator()) {
    level[&op] = readyAt(&op);
    if (isLoop(&op))
      last = std::max(last, level[&op] + 1);
  }
}

unsigned Splitter::neededAt(Operation *op) const {
  unsigned needed = last;
  for (Operation *user : op->getUsers()) {
    Operation *outer = block.findAncestorOpInBlock(*user);
    if (outer != block.getTerminator())
      needed = std::min(needed, level.lookup(outer));
  }
  return needed;
}

// A view costs nothing inside the kernel that reads it, and a kernel of its own
// before a loop.
void Splitter::placeInlined(Operation *op) {
  llvm::MapVector<Operation *, SmallVector<OpOperand *>> inBodies;
  llvm::MapVector<unsigned, SmallVector<OpOperand *>> inSegments;
  bool isKept = false;
  for (OpOperand &use : op->getUses()) {
    Operation *user = use.getOwner();
    Operation *outer = block.findAncestorOpInBlock(*user);
    if (user != outer && !user->hasTrait<OpTrait::IsTerminator>())
      inBodies[outer].push_back(&use);
    else if (user != outer || isLoop(outer) || outer == block.getTerminator())
      isKept = true;
    else
      inSegments[level.lookup(outer)].push_back(&use);
  }
  OpBuilder builder(op->getContext());
  auto clone = [&](ArrayRef<OpOperand *> uses) {
    Operation *copy = builder.clone(*op);
    for (OpOperand *use : uses)
      use->set(copy->getResult(0));
    return copy;
  };
  for (auto &[loop, uses] : inBodies) {
    builder.setInsertionPointToStart(&cast<program::ForOp>(loop).getBlock());
    clone(uses);
  }
  if (isKept || inSegments.size() > 1)
    for (auto &[at, uses] : inSegments) {
      builder.setInsertionPointAfter(op);
      level[clone(uses)] = at;
    }
  if (op->use_empty()) {
    level.erase(op);
    op->erase();
  } else {
    level[op] = neededAt(op);
  }
}

void Splitter::levelOps() {
  auto all = llvm::map_to_vector(block.without_terminator(),
                                 [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(all)) {
    if (isLoop(op))
      continue;
    graph::PatternKind kind = kindOf(op);
    if (kind == graph::PatternKind::view || kind == graph::PatternKind::source)
      placeInlined(op);
    else
      level[op] = neededAt(op);
  }
}

void Splitter::reorder() {
  auto all = llvm::map_to_vector(block.without_terminator(),
                                 [](Operation &op) { return &op; });
  for (unsigned at = 0; at <= last; ++at)
    for (bool loops : {false, true})
      for (Operation *op : all)
        if (level.lookup(op) == at && isLoop(op) == loops)
          op->moveBefore(block.getTerminator());
}

SmallVector<Segment> Splitter::segments() {
  SmallVector<Segment> result(1);
  for (Operation &op : block) {
    if (!isLoop(&op) && &op != block.getTerminator()) {
      result.back().ops.push_back(&op);
      continue;
    }
    result.back().before = &op;
    if (isLoop(&op))
      result.emplace_back();
  }
  llvm::erase_if(result,
                 [](const Segment &segment) { return segment.ops.empty(); });
  return result;
}

SmallVector<Segment> Splitter::run() {
  if (!block.getOps<program::ForOp>().empty()) {
    levelLoops();
    levelOps();
    reorder();
  }
  return segments();
}

SmallVector<Segment> splitAtLoops(Block &block) {
  return Splitter(block).run();
}

} // namespace sinter::compiler
