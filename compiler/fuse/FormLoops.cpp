/// Bodies of loops become regions.
#include "compiler/Passes.h"
#include "compiler/fuse/OpCosts.h"
#include "compiler/import/ImportGraph.h"
#include "dialects/program/Program.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Scan.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_FORMLOOPS
#include "sinter/generated/Passes.h.inc"

namespace {

/// Gathers one loop.
class LoopFormer {
public:
  LoopFormer(ir::ScanEndOp end, unsigned symbols)
      : end(end), block(*end->getBlock()), symbols(symbols) {}

  /// Leaves a loop as it is in whose body another one has to be gathered first.
  LogicalResult run(bool &isFormed);

private:
  LogicalResult readEnd();
  LogicalResult readBody();
  LogicalResult addToBody(Operation &op);
  LogicalResult checkUses();
  program::ForOp makeLoop();
  void fillBody(program::ForOp loop);
  void replaceResults(program::ForOp loop);
  bool isOfEnd(Operation *op) {
    return op == end.getOperation() ||
           (isa<ir::ScanLastOp, ir::ScanStackOp>(op) &&
            op->getOperand(0) == end.getResult());
  }

  ir::ScanEndOp end;
  Block &block;
  unsigned symbols;
  ir::ScanIndexOp index;
  SmallVector<ir::ScanCarryOp> carries;
  SmallVector<Value> nexts;
  SmallVector<ir::ScanSliceOp> slices;
  SmallVector<ir::ScanLastOp> lasts;
  SmallVector<ir::ScanStackOp> stacks;
  SmallVector<Operation *> body;
  llvm::DenseSet<Operation *> inside;
};

} // namespace

LogicalResult LoopFormer::readEnd() {
  OperandRange parts = end.getParts();
  index = parts[0].getDefiningOp<ir::ScanIndexOp>();
  if (!index)
    return end.emitError("scan_end: the first operand is no scan_index");
  for (unsigned i = 0; i < end.getCarries(); ++i) {
    auto carry = parts[1 + 2 * i].getDefiningOp<ir::ScanCarryOp>();
    if (!carry || carry.getIndex() != index.getResult() ||
        llvm::is_contained(carries, carry))
      return end.emitError("scan_end: operand ")
             << 1 + 2 * i << " is no carry of the loop, or one for the second "
             << "time";
    carries.push_back(carry);
    nexts.push_back(parts[2 + 2 * i]);
  }
  return success();
}

LogicalResult LoopFormer::addToBody(Operation &op) {
  bool isPart = isa<ir::ScanCarryOp, ir::ScanSliceOp>(op) &&
                op.getOperand(0) == index.getResult();
  bool readsBody = false;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      readsBody |= inside.contains(operand.getDefiningOp());
  });
  if (isOfEnd(&op) || (!isPart && !readsBody))
    return success();
  if (readsBody && isPart)
    return op.emitError("scan: a loop begins with a value of its own body");
  inside.insert(&op);
  if (auto slice = dyn_cast<ir::ScanSliceOp>(op))
    slices.push_back(slice);
  else if (!isPart)
    body.push_back(&op);
  else if (!llvm::is_contained(carries, cast<ir::ScanCarryOp>(op)))
    return op.emitError("scan_carry: the loop's end does not pass it on");
  return success();
}

LogicalResult LoopFormer::readBody() {
  for (Operation &op : block.without_terminator())
    if (failed(addToBody(op)))
      return failure();
  for (Operation *user : end->getUsers()) {
    if (auto last = dyn_cast<ir::ScanLastOp>(user)) {
      if (!llvm::is_contained(carries,
                              last.getCarry().getDefiningOp<ir::ScanCarryOp>()))
        return last.emitError("scan_last: no carry of the loop");
      lasts.push_back(last);
    } else if (auto stack = dyn_cast<ir::ScanStackOp>(user);
               stack && stack.getEnd() == end.getResult()) {
      if (end.getCondition() != 0)
        return stack.emitError("scan_stack: a loop with a condition keeps "
                               "nothing of its steps");
      stacks.push_back(stack);
    } else {
      return user->emitError("a loop's end is no value");
    }
  }
  // In the order of the block, whatever that of the uses is.
  llvm::sort(stacks,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return checkUses();
}

LogicalResult LoopFormer::checkUses() {
  for (Operation *user : index->getUsers())
    if (!inside.contains(user) && user != end.getOperation())
      return user->emitError("a loop's index is no value");
  for (Operation *op : inside)
    for (Operation *user : op->getUsers())
      if (!inside.contains(block.findAncestorOpInBlock(*user)) &&
          !isOfEnd(user))
        return op->emitError("scan: a value of the body has no value outside "
                             "of it; return it from the body");
  return success();
}

program::ForOp LoopFormer::makeLoop() {
  OpBuilder builder(end);
  SmallVector<Value> inits, xs;
  SmallVector<Type> types, arguments;
  SmallVector<Location> locs;
  for (ir::ScanCarryOp carry : carries) {
    inits.push_back(carry.getInit());
    types.push_back(carry.getType());
    arguments.push_back(carry.getType());
    locs.push_back(carry.getLoc());
  }
  for (ir::ScanStackOp stack : stacks)
    types.push_back(stack.getType());
  for (ir::ScanSliceOp slice : slices) {
    xs.push_back(slice.getXs());
    arguments.push_back(slice.getType());
    locs.push_back(slice.getLoc());
  }
  auto loop = program::ForOp::create(
      builder, end.getLoc(), types, inits, xs,
      AffineMapAttr::get(AffineMap::get(
          0, symbols, index.getLength().getResults(), builder.getContext())),
      index.getReverse() ? builder.getUnitAttr() : UnitAttr(),
      end.getCondition() != 0
          ? builder.getI64IntegerAttr(int64_t(end.getCondition()))
          : IntegerAttr(),
      IntegerAttr(), IntegerAttr(), ArrayAttr(), ArrayAttr());
  builder.createBlock(&loop.getBody(), {}, arguments, locs);
  return loop;
}

void LoopFormer::fillBody(program::ForOp loop) {
  Block &inner = loop.getBlock();
  auto builder = OpBuilder::atBlockEnd(&inner);
  SmallVector<Value> yielded(nexts);
  for (ir::ScanStackOp stack : stacks)
    yielded.push_back(stack.getY());
  auto next = program::NextOp::create(builder, loop.getLoc(), yielded);
  for (Operation *op : body)
    op->moveBefore(next);
  for (auto [i, carry] : llvm::enumerate(carries))
    carry.getResult().replaceAllUsesWith(inner.getArgument(i));
  for (auto [i, slice] : llvm::enumerate(slices))
    slice.getResult().replaceAllUsesWith(inner.getArgument(carries.size() + i));
}

void LoopFormer::replaceResults(program::ForOp loop) {
  for (ir::ScanLastOp last : lasts) {
    auto argument = cast<BlockArgument>(last.getCarry());
    last.getResult().replaceAllUsesWith(
        loop.getResult(argument.getArgNumber()));
    last.erase();
  }
  for (auto [i, stack] : llvm::enumerate(stacks)) {
    stack.getResult().replaceAllUsesWith(loop.getResult(carries.size() + i));
    stack.erase();
  }
  end.erase();
  for (ir::ScanCarryOp carry : carries)
    carry.erase();
  for (ir::ScanSliceOp slice : slices)
    slice.erase();
  index.erase();
  // What only a result that nobody reads was computed from.
  for (Operation *op : llvm::reverse(body))
    if (op->use_empty())
      op->erase();
}

LogicalResult LoopFormer::run(bool &isFormed) {
  if (failed(readEnd()) || failed(readBody()))
    return failure();
  isFormed = llvm::none_of(body, llvm::IsaPred<ir::ScanEndOp>);
  if (!isFormed)
    return success();
  program::ForOp loop = makeLoop();
  fillBody(loop);
  replaceResults(loop);
  return success();
}

static LogicalResult formLoops(ModuleOp module) {
  Block &block = mainOf(module).getBody().front();
  auto ends = llvm::to_vector(block.getOps<ir::ScanEndOp>());
  for (size_t waiting = ends.size() + 1; ends.size() < waiting;) {
    waiting = ends.size();
    SmallVector<ir::ScanEndOp> later;
    for (ir::ScanEndOp end : ends) {
      bool isFormed = false;
      if (failed(LoopFormer(end, programSymbols(module)).run(isFormed)))
        return failure();
      if (!isFormed)
        later.push_back(end);
      // What a body reads may stand after the loop's end.
      else if (!sortTopologically(&block))
        return module.emitError("scan: a body reads what the loop gives");
    }
    ends = std::move(later);
  }
  if (!ends.empty())
    return ends.front().emitError("scan: two loops are each in the other");
  for (Operation &op : block.without_terminator())
    if (!isa<program::ForOp>(op) && kindOf(&op) == graph::PatternKind::loop)
      return op.emitError("scan: a value of a body is used outside of "
                          "its loop, or the loop has no end");
  return success();
}

namespace {

struct FormLoopsPass : impl::FormLoopsBase<FormLoopsPass> {
  void runOnOperation() override {
    if (failed(formLoops(getOperation())))
      signalPassFailure();
  }
};

} // namespace

} // namespace sinter::compiler
