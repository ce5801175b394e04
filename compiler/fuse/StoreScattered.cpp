/// Stores transposes that reductions would read in sectors.
#include "compiler/fuse/StoreScattered.h"
#include "compiler/fuse/StoreCopied.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "dialects/sinter/ViewMap.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {

using graph::PatternKind;
using Dims = SmallVector<AffineExpr>;

// The last axis that has more than one element; none of a single number.
static std::optional<unsigned> lastAxis(const Dims &dims) {
  for (unsigned dim = dims.size(); dim-- > 0;)
    if (!isOne(dims[dim]))
      return dim;
  return std::nullopt;
}

// From one element along `dim` to the next.
static double stepAlong(const Dims &dims, unsigned dim) {
  double step = 1;
  for (AffineExpr extent : ArrayRef(dims).drop_front(dim + 1))
    step *= estimate(extent);
  return step;
}

// The axis of a reshaped tensor with as long a step as `dim` has behind it.
static std::optional<unsigned> sameStep(const Dims &from, const Dims &to,
                                        unsigned dim) {
  double step = stepAlong(to, dim);
  for (unsigned axis = from.size(); axis-- > 0;)
    if (!isOne(from[axis]) && stepAlong(from, axis) == step)
      return axis;
  return std::nullopt;
}

static Dims dimsOfValue(Value value) {
  return llvm::to_vector(dimsOf(value.getType()));
}

void ScatteredStorer::weigh(Value read, unsigned dim, Operation *turned) {
  Dims dims = dimsOfValue(read);
  if (!turned || estimate(dims[*lastAxis(dims)]) < fewestTogether)
    return;
  // What the cache of a core holds is brought once.
  const MachineModel &machine = options.caps.machine;
  double all = estimatedBytes(read.getType());
  if (all <= double(machine.level2Bytes))
    return;
  double elements = estimatedElements(read.getType());
  double bytes = all / elements;
  // Of what sectors bring beside an element. Neighbours are still in a cache
  // now and then: on an H200, f32 read so took 4.1 times as long more as the
  // elements themselves, not 7, in sums of 8192 x 8192 products.
  constexpr double lost = 0.6;
  double step = std::min<double>(double(machine.sectorBytes),
                                 stepAlong(dims, dim) * bytes);
  double scattered =
      machine.microsecondsOfBytes(elements * (step - bytes) * lost);
  double stored = 2 * estimatedBytes(turned->getResult(0).getType());
  if (scattered <=
      machine.microsecondsOfBytes(stored) + machine.launchMicroseconds())
    return;
  FusionDecision decision;
  decision.accepted = true;
  decision.rule = "sectors";
  decision.bytes = int64_t(stored);
  decision.estUs = float(scattered);
  auto nodes = nodesOf(mergeLocations(turned->getLoc(), reduction->getLoc()));
  decision.nodes.assign(nodes.begin(), nodes.end());
  decision.detail = llvm::formatv(
      "{0} stored: {1} would read {2:f0} bytes for {3:f0} of an element",
      turned->getName().stripDialect(), reduction->getName().stripDialect(),
      step, bytes);
  turned->setAttr(turnedAttr, UnitAttr::get(turned->getContext()));
  storeValue(turned, ops, std::move(decision), decisions);
  changed = true;
}

void ScatteredStorer::visitBehind(Operation *view, unsigned dim,
                                  Operation *turned) {
  auto map = ir::viewMapOf(view);
  if (!map)
    return;
  Dims to = dimsOfValue(view->getResult(0));
  bool isLast = lastAxis(to) == dim;
  for (const ir::ViewPart &part : map->parts) {
    Dims from = dimsOfValue(part.operand);
    std::optional<unsigned> axis;
    if (map->keepsLinearOrder)
      axis = sameStep(from, to, dim);
    else if (auto place = part.along(dim))
      axis = place->axis;
    if (!axis)
      continue;
    bool turns = isLast && lastAxis(from) != axis && map->permutation();
    visit(part.operand, *axis, turned || !turns ? turned : view);
  }
}

void ScatteredStorer::visit(Value value, unsigned dim, Operation *turned) {
  if (isOne(dimsOfValue(value)[dim]) || !seen.insert({value, dim}).second)
    return;
  int index = ops.indexOf(value);
  if (index < 0)
    return weigh(value, dim, turned);
  Operation *op = ops.op(index);
  switch (kindOf(op)) {
  case PatternKind::pointwise:
    for (Value operand : op->getOperands())
      visit(operand, dim, turned);
    return;
  case PatternKind::source:
  case PatternKind::random:
    return;
  case PatternKind::view:
    // What is stored for another reason may be computed where it is read.
    if (!op->hasAttr(turnedAttr))
      return visitBehind(op, dim, turned);
    [[fallthrough]];
  default:
    return weigh(value, dim, turned);
  }
}

bool ScatteredStorer::consider(unsigned index) {
  reduction = ops.op(index);
  if (kindOf(reduction) != PatternKind::reduction)
    return false;
  changed = false;
  seen.clear();
  for (Value operand : reduction->getOperands()) {
    Dims dims = dimsOfValue(operand);
    auto last = lastAxis(dims);
    if (last && estimate(dims[*last]) >= fewestTogether)
      visit(operand, *last, nullptr);
  }
  return changed;
}

} // namespace sinter::compiler
