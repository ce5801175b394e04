/// Cuts where the ops behind a value are too many for a kernel.
#include "compiler/fuse/CutKernels.h"

#include "compiler/fuse/StoreCopied.h"
#include "compiler/fuse/StoreScattered.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

namespace {

/// How much of each cap something takes.
struct Size {
  int64_t ops = 0, inputs = 0, operands = 0;

  bool within(const Size &other) const {
    return ops <= other.ops && inputs <= other.inputs &&
           operands <= other.operands;
  }
  Size &operator+=(const Size &other) {
    ops += other.ops;
    inputs += other.inputs;
    operands += other.operands;
    return *this;
  }
  Size &operator-=(const Size &other) {
    return *this += {-other.ops, -other.inputs, -other.operands};
  }
};

/// What a kernel of some values computes, and what it reads.
struct Cone {
  llvm::SmallPtrSet<Operation *, 16> ops;
  llvm::SmallPtrSet<Value, 8> inputs;

  Size size(size_t operands) const {
    return {int64_t(ops.size()), int64_t(inputs.size()), int64_t(operands)};
  }
};

/// The operands of a join, and what each takes by itself.
struct Parts {
  SmallVector<Value> values;
  SmallVector<Size> sizes;
  Size total; ///< what operands share counts for each of them
};

/// Cuts once through the ops. What is written out too often is stored before
/// its chain is cut for its length: cut for that alone, steps that repeat each
/// other would be cut each at another place, and be so many more kernels.
/// Storing a value may make others core: they have to be classified and looked
/// at again.
class Cutter {
public:
  Cutter(ClassifiedOps classified, SmallVectorImpl<Operation *> &ops,
         const FuseOptions &options, std::vector<FusionDecision> &decisions)
      : classified(std::move(classified)), ops(ops), options(options),
        decisions(decisions),
        limit{int64_t(options.caps.ops) - 1, int64_t(options.caps.buffers) - 1,
              options.caps.ops} {}

  /// Whether something was stored.
  bool run();
  /// The ops, if nothing was.
  ClassifiedOps take() { return std::move(classified); }

private:
  bool exceeds(Operation *op) const {
    return !sizeOf(op->getOperands()).within(limit);
  }
  bool isInput(Value value) const;
  void add(Value value, Cone &cone) const;
  Size sizeOf(ValueRange operands) const;
  void cut(Operation *op);
  bool storeLargestOperand(Operation *op);
  bool shorten(Operation *join);
  size_t takeNeighbours(Parts &parts, size_t begin) const;
  Value joinOf(Operation *join, ArrayRef<Value> operands);
  void store(Operation *op);

  ClassifiedOps classified;
  SmallVectorImpl<Operation *> &ops;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  const Size limit; ///< of what an op's operands take together
  bool changed = false;
  /// The ops so far, with those that are new.
  SmallVector<Operation *> all;
};

} // namespace

/// What a value that is stored takes of a kernel that reads it.
static constexpr Size sizeOfInput{0, 1, 1};

// Whether a kernel reads the value, and does not compute it.
bool Cutter::isInput(Value value) const {
  int index = classified.indexOf(value);
  return index < 0 || classified.isRead(index);
}

void Cutter::add(Value value, Cone &cone) const {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (isInput(next))
      cone.inputs.insert(next);
    else if (cone.ops.insert(next.getDefiningOp()).second)
      llvm::append_range(pending, next.getDefiningOp()->getOperands());
  }
}

Size Cutter::sizeOf(ValueRange operands) const {
  Cone cone;
  for (Value operand : operands)
    add(operand, cone);
  return cone.size(operands.size());
}

void Cutter::store(Operation *op) {
  FusionDecision decision;
  decision.accepted = true;
  decision.rule = "cut";
  decision.bytes = int64_t(estimatedBytes(op->getResult(0).getType()));
  auto nodes = nodesOf(op->getLoc());
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv(
      "{0} stored: a kernel has at most {1} ops and {2} buffers",
      op->getName().stripDialect(), limit.ops + 1, limit.inputs + 1);
  storeValue(op, classified, std::move(decision), decisions);
  changed = true;
}

bool Cutter::storeLargestOperand(Operation *op) {
  Value largest;
  int64_t most = 0;
  for (Value operand : op->getOperands()) {
    if (isInput(operand))
      continue;
    Size size = sizeOf(operand);
    if (size.ops + size.inputs <= most)
      continue;
    most = size.ops + size.inputs;
    largest = operand;
  }
  if (largest)
    store(largest.getDefiningOp());
  return bool(largest);
}

//===- Joins --------------------------------------------------------------===//

// The same op on some of its operands, before it.
Value Cutter::joinOf(Operation *join, ArrayRef<Value> operands) {
  int64_t axis = axesOf(join)[0];
  Type element = getElementTypeOrSelf(join->getResult(0).getType());
  SmallVector<AffineExpr> dims = dimsOf(operands[0].getType());
  for (Value operand : operands.drop_front())
    dims[axis] = dims[axis] + dimsOf(operand.getType())[axis];
  Operation *part = OpBuilder(join).clone(*join);
  part->removeAttr(orderAttr);
  part->setOperands(operands);
  part->getResult(0).setType(tensorType(element, dims, numSymbolsOf(join)));
  all.push_back(part);
  return part->getResult(0);
}

// Takes operands off the total, as many as a join of their own can have but no
// more than need be: at least one. The end of those.
size_t Cutter::takeNeighbours(Parts &parts, size_t begin) const {
  Cone cone;
  size_t end = begin;
  bool isEnough = false;
  while (end < parts.values.size() && !isEnough) {
    add(parts.values[end], cone);
    if (end > begin && !cone.size(end - begin + 1).within(limit))
      break;
    parts.total -= parts.sizes[end++];
    Size after = parts.total;
    after += sizeOfInput;
    isEnough = end > begin + 1 && after.within(limit);
  }
  return end;
}

// Joins neighbours, and stores those that are too large to have one, until what
// is left is few enough: what is joined twice is copied twice. Whether
// something was done.
bool Cutter::shorten(Operation *join) {
  Parts parts{llvm::to_vector(join->getOperands()), {}, {}};
  for (Value value : parts.values) {
    parts.sizes.push_back(sizeOf(value));
    parts.total += parts.sizes.back();
  }
  bool isDone = false;
  size_t begin = 0;
  SmallVector<Value> shorter;
  while (begin < parts.values.size() && !parts.total.within(limit)) {
    size_t end = takeNeighbours(parts, begin);
    Value part = parts.values[begin];
    if (end > begin + 1)
      part = joinOf(join, ArrayRef(parts.values).slice(begin, end - begin));
    if (end > begin + 1 || !isInput(part)) {
      store(part.getDefiningOp());
      isDone = true;
    }
    parts.total += sizeOfInput;
    shorter.push_back(part);
    begin = end;
  }
  llvm::append_range(shorter, ArrayRef(parts.values).drop_front(begin));
  join->setOperands(shorter);
  return isDone;
}

//===- The walk -----------------------------------------------------------===//

void Cutter::cut(Operation *op) {
  while (exceeds(op) && isJoin(op) && shorten(op))
    ;
  while (exceeds(op) && storeLargestOperand(op))
    ;
}

bool Cutter::run() {
  bool onePerOp = options.fusion == Fusion::none;
  CopiedStorer copied(classified, options, decisions);
  ScatteredStorer scattered(classified, options, decisions);
  for (Operation *op : ops) {
    unsigned index = classified.indexOf(op->getResult(0));
    if (!classified.isRename(index)) {
      changed |= !onePerOp && copied.consider(index);
      changed |= !onePerOp && scattered.consider(index);
      // What code of the user's reads is stored in any case.
      if (kindOf(op) != PatternKind::opaque)
        cut(op);
    }
    all.push_back(op);
  }
  ops.assign(all.begin(), all.end());
  return changed;
}

FusionGraph cutToCaps(SmallVectorImpl<Operation *> &ops,
                      const FuseOptions &options,
                      std::vector<FusionDecision> &decisions) {
  while (true) {
    Cutter cutter(ClassifiedOps(ops, options.fusion == Fusion::none), ops,
                  options, decisions);
    if (!cutter.run())
      return FusionGraph(cutter.take());
  }
}

} // namespace sinter::compiler
