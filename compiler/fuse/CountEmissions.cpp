/// Accesses of ops, from the stored values inward.
#include "compiler/fuse/CountEmissions.h"
#include "compiler/import/Types.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;

// A number that two different pairs hardly share, on every machine the same.
static uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15 + b + 0x2545f4914f6cdd1d;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return (x ^ (x >> 31)) >> 1; // never one of the set's own marks
}

EmissionCounter::EmissionCounter(const ClassifiedOps &ops, const OpSet &body,
                                 const OpSet &outputs, uint64_t most)
    : ops(ops) {
  findLevels(body);
  startAt(outputs);
  for (unsigned index : llvm::reverse(body)) {
    // A copy: the map grows meanwhile.
    SmallVector<Access, 2> reached = accesses.lookup(index);
    for (const Access &access : reached) {
      if (count > most)
        return;
      reachOperands(index, access);
    }
  }
}

void EmissionCounter::findLevels(const OpSet &body) {
  for (unsigned index : body) {
    Operation *op = ops.op(index);
    unsigned level = 0;
    for (Value operand : op->getOperands())
      if (int source = ops.indexOf(operand); source >= 0)
        level = std::max(level, levels.lookup(source));
    levels[index] = level + (kindOf(op) == PatternKind::reduction);
  }
}

// Outputs of one shape are walked together.
void EmissionCounter::startAt(const OpSet &outputs) {
  SmallVector<SmallVector<AffineExpr>> shapes;
  for (unsigned index : outputs) {
    Value value = ops.op(index)->getResult(0);
    auto dims = llvm::to_vector(dimsOf(value.getType()));
    auto known = llvm::find(shapes, dims);
    uint64_t number = known - shapes.begin();
    if (known == shapes.end())
      shapes.push_back(std::move(dims));
    reach(value, {mix(number, 0), 0});
  }
}

void EmissionCounter::reach(Value value, Access access) {
  // Single numbers have one index.
  if (rankOf(value) == 0)
    access.index = 0;
  int index = ops.indexOf(value);
  bool isInside = index >= 0 && levels.contains(index);
  uint64_t id = isInside
                    ? uint64_t(index)
                    : ~inputs.try_emplace(value, inputs.size()).first->second;
  if (!seen.insert({mix(id, access.index), mix(id, access.mask)}).second)
    return;
  ++count;
  if (isInside)
    accesses[index].push_back(access);
}

void EmissionCounter::reachThroughView(unsigned index, const Access &access) {
  Operation *view = ops.op(index);
  bool selects = selectsByPosition(view);
  for (auto [number, operand] : llvm::enumerate(view->getOperands())) {
    Access inner{mix(access.index, index), access.mask};
    if (selects) {
      inner.index = mix(inner.index, number);
      inner.mask = mix(access.mask, inner.index);
    }
    reach(operand, inner);
  }
}

// Reductions of one level are done in one walk over what they read. Of other
// roots every operand is read by a walk of its own.
void EmissionCounter::reachOperands(unsigned index, const Access &access) {
  Operation *op = ops.op(index);
  switch (kindOf(op)) {
  case PatternKind::pointwise:
  case PatternKind::random:
    for (Value operand : op->getOperands())
      reach(operand, access);
    return;
  case PatternKind::source:
    return;
  case PatternKind::view:
    return reachThroughView(index, access);
  case PatternKind::reduction:
    for (Value operand : op->getOperands())
      reach(operand, {mix(levels.lookup(index), 1), 0});
    return;
  case PatternKind::gather:
    reach(op->getOperand(0), {mix(access.index, index), access.mask});
    for (Value operand : op->getOperands().drop_front())
      reach(operand, access);
    return;
  default:
    for (auto [number, operand] : llvm::enumerate(op->getOperands()))
      reach(operand, {mix(index, 2 + number), 0});
  }
}

} // namespace sinter::compiler
