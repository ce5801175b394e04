/// Which elements a reduction reads for which of its results.
#include "compiler/lower/element/ReductionOrder.h"

#include "compiler/analysis/ElementCost.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

ReductionAxes reductionAxes(Operation *op) {
  ReductionAxes result;
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    result.axes.assign(axes.asArrayRef().begin(), axes.asArrayRef().end());
  else if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    result.axes = {axis.getInt()};
  if (auto keepdims = op->getAttrOfType<BoolAttr>("keepdims"))
    result.keepdims = keepdims.getValue();
  llvm::sort(result.axes);
  return result;
}

AffineExpr reducedExtent(Operation *op) {
  Shape shape = shapeOf(op->getOperand(0));
  AffineExpr result = getAffineConstantExpr(1, op->getContext());
  for (int64_t axis : reductionAxes(op).axes)
    result = result * shape[axis];
  return result;
}

bool reducesTrailing(Operation *op) {
  Shape shape = shapeOf(op->getOperand(0));
  SmallVector<int64_t> axes = reductionAxes(op).axes;
  bool inReduced = false;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    bool reduced = llvm::is_contained(axes, int64_t(dim));
    if (isOne(shape[dim]))
      continue;
    if (inReduced && !reduced)
      return false;
    inReduced |= reduced;
  }
  return true;
}

CanonicalOrder canonicalOrder(Operation *op) {
  int64_t rank = int64_t(shapeOf(op->getOperand(0)).size());
  SmallVector<int64_t> axes = reductionAxes(op).axes;
  bool reducesLast = rank == 0 || llvm::is_contained(axes, rank - 1);
  return reducesLast ? CanonicalOrder::lanes : CanonicalOrder::blocks;
}

// The operand's coordinates with those of reduced dims empty.
SmallVector<Coord> keptCoordinates(Emission &emission, Operation *op,
                                   const Index &index) {
  ReductionAxes axes = reductionAxes(op);
  SmallVector<Coord> outer =
      emission.coordinates(index, shapeOf(op->getResult(0)));
  unsigned rank = shapeOf(op->getOperand(0)).size();
  SmallVector<Coord> result(rank);
  unsigned next = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (!isReduced(axes, dim))
      result[dim] = outer[next++];
    else if (axes.keepdims)
      ++next;
  }
  return result;
}

// The coordinates along the reduced axes of element `r`.
SmallVector<Coord> reducedCoordinates(Emission &emission, Operation *op,
                                      const Coord &r) {
  Shape inner = shapeOf(op->getOperand(0)), reduced;
  for (int64_t axis : reductionAxes(op).axes)
    reduced.push_back(inner[axis]);
  Index flat;
  flat.tail = r;
  flat.tailRank = reduced.size();
  return emission.coordinates(flat, reduced);
}

// How many of the operand's last dims are all reduced.
static unsigned reducedTail(Operation *op) {
  unsigned rank = shapeOf(op->getOperand(0)).size(), count = 0;
  ReductionAxes axes = reductionAxes(op);
  while (count < rank && isReduced(axes, rank - 1 - count))
    ++count;
  return count;
}

unsigned lanesAlongReduced(Emission &emission, Operation *op) {
  unsigned most = std::min<unsigned>(canonicalLanes,
                                     loopLanes(emission.body, emission.target));
  if (reducesTrailing(op))
    return most;
  Shape shape = shapeOf(op->getOperand(0));
  int64_t run = constantOf(product(shape, shape.size() - reducedTail(op),
                                   shape.size(), op->getContext()));
  for (unsigned lanes = most; lanes >= emission.target.lanes(); lanes /= 2)
    if (run > 0 && run % lanes == 0)
      return lanes;
  return most;
}

// Where dims that stay are between reduced ones: the last dims that are all
// reduced are still counted as one, so that lanes along them are neighbours.
static Index indexAround(Emission &emission, Operation *op,
                         ArrayRef<Coord> kept, const Coord &r) {
  Shape shape = shapeOf(op->getOperand(0)), groups;
  ReductionAxes axes = reductionAxes(op);
  unsigned tail = reducedTail(op), lead = shape.size() - tail;
  for (int64_t axis : axes.axes)
    if (axis < int64_t(lead))
      groups.push_back(shape[axis]);
  groups.push_back(product(shape, lead, shape.size(), op->getContext()));
  Index flat, index;
  flat.tail = r;
  flat.tailRank = groups.size();
  SmallVector<Coord> parts = emission.coordinates(flat, groups);
  unsigned next = 0;
  for (unsigned dim = 0; dim < lead; ++dim)
    index.lead.push_back(isReduced(axes, dim) ? parts[next++] : kept[dim]);
  index.tail = parts.back();
  index.tailRank = tail;
  return index;
}

// The operand's index of element `r` of a row.
Index elementIndex(Emission &emission, Operation *op, ArrayRef<Coord> kept,
                   const Coord &r) {
  Shape inner = shapeOf(op->getOperand(0));
  ReductionAxes axes = reductionAxes(op);
  unsigned rank = inner.size();
  if (rank == 0)
    return Index();
  Coord zero = emission.uniform(emission.constant(0));
  unsigned first = 0;
  while (first < rank && (!isReduced(axes, first) || isOne(inner[first])))
    ++first;
  if (reducesTrailing(op) && first < rank) {
    Index index;
    for (unsigned dim = 0; dim < first; ++dim)
      index.lead.push_back(isReduced(axes, dim) ? zero : kept[dim]);
    index.tail = r;
    index.tailRank = rank - first;
    return index;
  }
  if (reducedTail(op) > 1)
    return indexAround(emission, op, kept, r);
  SmallVector<Coord> parts = reducedCoordinates(emission, op, r);
  SmallVector<Coord> all(kept);
  for (auto [axis, part] : llvm::zip(axes.axes, parts))
    all[axis] = part;
  return emission.fromCoordinates(all);
}

Value reductionElement(Emission &emission, Operation *op, const Index &index,
                       const Coord &r, const Lanes &lanes) {
  SmallVector<Coord> kept = keptCoordinates(emission, op, index);
  Index inner = elementIndex(emission, op, kept, r);
  return emission.vectorAt(op->getOperand(0), inner, lanes);
}

} // namespace sinter::compiler
