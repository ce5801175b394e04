/// Views that permute, repeat or regroup elements, and slices.
#include "compiler/lower/Views.h"

#include "compiler/lower/Access.h"
#include "compiler/lower/MaskedViews.h"
#include "compiler/lower/OpsBehind.h"
#include "compiler/lower/ReductionOrder.h"
#include "compiler/lower/WindowViews.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Gather.h"
#include "sinter/generated/classes/View.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// How many trailing dims of `from` and `to` hold the same elements, with at
// least `least` of `from`; the fewest.
std::pair<unsigned, unsigned> matchTails(const Shape &from, const Shape &to,
                                         unsigned least, MLIRContext *context) {
  for (unsigned left = least; left <= from.size(); ++left) {
    AffineExpr size = product(from, from.size() - left, from.size(), context);
    for (unsigned right = left ? 1 : 0; right <= to.size(); ++right)
      if (product(to, to.size() - right, to.size(), context) == size)
        return {left, right};
    if (to.empty() && isOne(size))
      return {left, 0};
  }
  return {from.size(), to.size()};
}

// Coordinates in `to` of the element at `coordinates` in `from`: groups of dims
// with equal products, from the last on.
SmallVector<Coord> regroup(Emission &emission, SmallVector<Coord> coordinates,
                           Shape from, Shape to) {
  MLIRContext *context = emission.builder.getContext();
  SmallVector<Coord> reversed;
  while (!to.empty()) {
    bool isSingle = isOne(to.back());
    while (!isSingle && !from.empty() && isOne(from.back())) {
      from.pop_back();
      coordinates.pop_back();
    }
    // Where nothing of `from` is left, guards make the rest of `to` one element
    // whatever its symbols are: [n, n] of [n] is [1, 1].
    if (isSingle || from.empty()) {
      reversed.push_back(emission.uniform(emission.constant(0)));
      to.pop_back();
      continue;
    }
    auto [left, right] = matchTails(from, to, 1, context);
    Shape fromGroup(from.end() - left, from.end());
    Shape toGroup(to.end() - right, to.end());
    Index group =
        emission.fromCoordinates(ArrayRef(coordinates).take_back(left));
    Index flat;
    flat.tail = emission.linearize(group, fromGroup);
    flat.tailRank = right;
    SmallVector<Coord> parts = emission.coordinates(flat, toGroup);
    reversed.append(parts.rbegin(), parts.rend());
    from.resize(from.size() - left);
    coordinates.truncate(coordinates.size() - left);
    to.resize(to.size() - right);
  }
  return SmallVector<Coord>(llvm::reverse(reversed));
}

class ReshapeSource final : public ElementSource {
public:
  explicit ReshapeSource(ir::ReshapeOp op)
      : ElementSource(op.getResult()), operand(op.getX()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Index inner =
        reshapeIndex(emission, index, shapeOf(tensor), shapeOf(operand));
    return emission.at(operand, inner, lanes);
  }

private:
  Value operand;
};

class TransposeSource final : public ElementSource {
public:
  explicit TransposeSource(ir::TransposeOp op)
      : ElementSource(op.getResult()), operand(op.getX()),
        permutation(op.getPermutation()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    unsigned rank = permutation.size();
    for (unsigned dim = rank - index.tailRank; dim < rank; ++dim)
      if (permutation[dim] != int64_t(dim))
        return throughCoordinates(emission, index, lanes);
    Index inner = index;
    for (auto [dim, coord] : llvm::enumerate(index.lead))
      inner.lead[permutation[dim]] = coord;
    return emission.at(operand, inner, lanes);
  }

private:
  Element throughCoordinates(Emission &emission, const Index &index,
                             const Lanes &lanes) {
    SmallVector<Coord> outer = emission.coordinates(index, shapeOf(tensor));
    SmallVector<Coord> inner(outer.size());
    for (auto [dim, from] : llvm::enumerate(permutation))
      inner[from] = outer[dim];
    return emission.at(operand, emission.fromCoordinates(inner), lanes);
  }

  Value operand;
  SmallVector<int64_t> permutation;
};

class BroadcastSource final : public ElementSource {
public:
  explicit BroadcastSource(ir::BroadcastOp op)
      : ElementSource(op.getResult()), operand(op.getX()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Shape outer = shapeOf(tensor), inner = shapeOf(operand);
    unsigned offset = outer.size() - inner.size();
    Index split = index;
    bool keepsAll = true;
    while (split.tailRank > 0) {
      auto [kept, repeated] = classify(outer, inner, split.tailRank);
      keepsAll = kept;
      if (kept || repeated)
        break;
      split = emission.withTail(split, outer, split.tailRank - 1);
    }
    Index result;
    Coord zero = emission.uniform(emission.constant(0));
    for (unsigned dim = offset; dim < split.lead.size(); ++dim)
      result.lead.push_back(inner[dim - offset] == outer[dim] ? split.lead[dim]
                                                              : zero);
    result.tailRank =
        std::min<unsigned>(split.tailRank, unsigned(inner.size()));
    result.tail = keepsAll && split.tailRank ? split.tail : zero;
    return emission.at(operand, result, lanes);
  }

  // Whether the last `count` dims are all the operand's own, and whether none
  // of them but those of size 1 is.
  static std::pair<bool, bool> classify(const Shape &outer, const Shape &inner,
                                        unsigned count) {
    unsigned offset = outer.size() - inner.size();
    bool kept = true, repeated = true;
    for (unsigned dim = outer.size() - count; dim < outer.size(); ++dim) {
      bool own = dim >= offset && inner[dim - offset] == outer[dim];
      kept &= own;
      repeated &= !own || isOne(outer[dim]);
    }
    return {kept, repeated && !kept};
  }

private:
  Value operand;
};

class SliceSource final : public ElementSource {
public:
  explicit SliceSource(ir::SliceOp op)
      : ElementSource(op.getResult()), operand(op.getX()),
        steps(op.getSteps()) {
    for (unsigned dim = 0; dim < steps.size(); ++dim)
      starts.push_back(startOf(op, dim));
  }

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Shape outer = shapeOf(tensor), inner = shapeOf(operand);
    Index split = index;
    while (split.tailRank > 1 && changesTail(outer, inner, split.tailRank))
      split = emission.withTail(split, outer, split.tailRank - 1);
    if (split.tailRank > 1 ||
        (split.tailRank == 1 && !changes(outer, inner, outer.size() - 1))) {
      for (auto [dim, coord] : llvm::enumerate(split.lead))
        coord = shift(emission, coord, dim);
      return emission.at(operand, split, lanes);
    }
    SmallVector<Coord> coordinates = emission.coordinates(split, outer);
    for (auto [dim, coord] : llvm::enumerate(coordinates))
      coord = shift(emission, coord, dim);
    return emission.at(operand, emission.fromCoordinates(coordinates), lanes);
  }

private:
  bool changes(const Shape &outer, const Shape &inner, unsigned dim) const {
    return !isZero(starts[dim]) || steps[dim] != 1 || outer[dim] != inner[dim];
  }
  bool changesTail(const Shape &outer, const Shape &inner,
                   unsigned count) const {
    for (unsigned dim = outer.size() - count; dim < outer.size(); ++dim)
      if (changes(outer, inner, dim))
        return true;
    return false;
  }
  Coord shift(Emission &emission, const Coord &coord, unsigned dim) const {
    MLIRContext *context = emission.builder.getContext();
    Coord scaled =
        emission.scale(coord, getAffineConstantExpr(steps[dim], context));
    return emission.add(scaled, emission.uniform(emission.extent(starts[dim])));
  }

  Value operand;
  SmallVector<AffineExpr> starts;
  SmallVector<int64_t> steps;
};

class DynamicSliceSource final : public ElementSource {
public:
  explicit DynamicSliceSource(ir::DynamicSliceOp op)
      : ElementSource(op.getResult()), op(op), start(op.getStart()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    unsigned axis = op.getAxis();
    Index split = apartFrom(emission, index, shapeOf(tensor), axis);
    Coord &moved = axis < split.lead.size() ? split.lead[axis] : split.tail;
    AffineExpr most = shapeOf(op.getX())[axis] - shapeOf(tensor)[axis];
    moved = emission.add(moved, start.within(emission, most));
    return emission.at(op.getX(), split, lanes);
  }

private:
  ir::DynamicSliceOp op;
  ViewStart start;
};

class FlipSource final : public ElementSource {
public:
  explicit FlipSource(ir::FlipOp op)
      : ElementSource(op.getResult()), op(op), operand(op.getX()) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Shape shape = shapeOf(tensor);
    Index split = index;
    while (split.tailRank > 1 && flipsTail(op, split.tailRank))
      split = emission.withTail(split, shape, split.tailRank - 1);
    for (auto [dim, coord] : llvm::enumerate(split.lead))
      if (flips(op, dim))
        coord = reversed(emission, coord, shape[dim]);
    if (split.tailRank == 1 && flips(op, shape.size() - 1))
      split.tail = reversed(emission, split.tail, shape.back());
    return emission.at(operand, split, lanes);
  }

  static bool flips(ir::FlipOp op, unsigned dim) {
    return llvm::is_contained(op.getAxes(), int64_t(dim)) &&
           !isOne(shapeOf(op.getResult())[dim]);
  }
  static bool flipsTail(ir::FlipOp op, unsigned count) {
    unsigned rank = shapeOf(op.getResult()).size();
    for (unsigned dim = rank - count; dim < rank; ++dim)
      if (flips(op, dim))
        return true;
    return false;
  }

private:
  // extent - 1 - coordinate.
  static Coord reversed(Emission &emission, const Coord &coord,
                        AffineExpr extent) {
    Coord last = emission.uniform(
        emission.sub(emission.extent(extent), emission.constant(1)));
    return emission.sub(last, coord);
  }

  ir::FlipOp op;
  Value operand;
};

} // namespace

Index apartFrom(Emission &emission, const Index &index, const Shape &shape,
                unsigned axis) {
  if (axis + index.tailRank < shape.size())
    return index;
  return emission.withTail(index, shape,
                           std::max<unsigned>(1, shape.size() - axis - 1));
}

Coord ViewStart::within(Emission &emission, AffineExpr most) {
  Value zero = emission.constant(0);
  if (constantOf(most) == 0)
    return emission.uniform(zero);
  Value given = emission.at(number, Index(), Lanes()).value;
  Value &position = positions[given];
  if (!position)
    emission.hoisted({given}, /*readsMemory=*/false, [&] {
      OpBuilder &builder = emission.builder;
      position = arith::IndexCastOp::create(builder, emission.loc,
                                            builder.getIndexType(), given);
    });
  return emission.uniform(
      emission.max(emission.min(position, emission.extent(most)), zero));
}

Index reshapeIndex(Emission &emission, const Index &index, const Shape &from,
                   const Shape &to) {
  MLIRContext *context = emission.builder.getContext();
  // Where nothing is, dims of 0 make groups that do not fit together.
  auto size = dyn_cast<AffineConstantExpr>(product(to, 0, to.size(), context));
  bool isNothing = size && size.getValue() == 0;
  if (from.empty() || to.empty() || isNothing) {
    SmallVector<Coord> zeros(to.size(), emission.uniform(emission.constant(0)));
    return emission.fromCoordinates(zeros);
  }
  auto [left, right] = matchTails(from, to, index.tailRank, context);
  Index outer = emission.withTail(index, from, left);
  Index result;
  Shape fromLead(from.begin(), from.end() - left);
  Shape toLead(to.begin(), to.end() - right);
  result.lead = regroup(emission, outer.lead, fromLead, toLead);
  result.tail = outer.tail;
  result.tailRank = right;
  return result;
}

std::unique_ptr<ElementSource> makeView(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return std::make_unique<ReshapeSource>(reshape);
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return std::make_unique<TransposeSource>(transpose);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op))
    return std::make_unique<BroadcastSource>(broadcast);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return std::make_unique<SliceSource>(slice);
  if (auto slice = dyn_cast<ir::DynamicSliceOp>(op))
    return std::make_unique<DynamicSliceSource>(slice);
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return std::make_unique<FlipSource>(flip);
  if (auto window = makeWindowView(tensor))
    return window;
  return makeMaskedView(tensor);
}

static bool keepsReshape(ir::ReshapeOp op, unsigned tailRank) {
  auto [left, right] = matchTails(shapeOf(op.getResult()), shapeOf(op.getX()),
                                  tailRank, op.getContext());
  (void)left;
  return right == 0 || keepsTail(op.getX(), right);
}

// Whether lanes may run along the last `tailRank` dims of a reduction's result.
static bool keepsReduction(Operation *op, ArrayRef<int64_t> axes,
                           unsigned tailRank) {
  Value operand = op->getOperand(0);
  unsigned rank = shapeOf(operand).size();
  for (unsigned dim = rank - std::min(rank, tailRank); dim < rank; ++dim)
    if (llvm::is_contained(axes, int64_t(dim)))
      return false;
  return keepsTail(operand, tailRank);
}

static bool keepsView(Operation *op, unsigned tailRank) {
  Shape outer = shapeOf(op->getResult(0));
  unsigned first = outer.size() - tailRank;
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return keepsReshape(reshape, tailRank);
  Value operand = op->getOperand(0);
  Shape inner = shapeOf(operand);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) {
    auto [kept, repeated] = BroadcastSource::classify(outer, inner, tailRank);
    return repeated || (kept && keepsTail(operand, tailRank));
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    for (unsigned dim = first; dim < outer.size(); ++dim)
      if (transpose.getPermutation()[dim] != int64_t(dim))
        return false;
    return keepsTail(operand, tailRank);
  }
  if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    for (unsigned dim = first; dim < outer.size(); ++dim)
      if (!isZero(startOf(slice, dim)) || slice.getSteps()[dim] != 1 ||
          outer[dim] != inner[dim])
        return false;
    return keepsTail(operand, tailRank);
  }
  if (auto slice = dyn_cast<ir::DynamicSliceOp>(op))
    return uint64_t(slice.getAxis()) < first && keepsTail(operand, tailRank);
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return !FlipSource::flipsTail(flip, tailRank) &&
           keepsTail(operand, tailRank);
  return keepsMaskedView(op, tailRank);
}

bool keepsTail(Value tensor, unsigned tailRank) {
  Operation *op = tensor.getDefiningOp();
  Shape shape = shapeOf(tensor);
  if (!op || shape.empty() || tailRank == 0)
    return true;
  if (tailRank > shape.size())
    return false;
  if (tailRank == 1)
    return true;
  switch (cast<ir::SinterOpInterface>(op).getPatternKind()) {
  case graph::PatternKind::pointwise:
    return llvm::all_of(behindArithmetic(tensor),
                        [&](Value leaf) { return keepsTail(leaf, tailRank); });
  case graph::PatternKind::random:
    return true;
  case graph::PatternKind::source:
    if (auto iota = dyn_cast<ir::IotaOp>(op))
      return uint64_t(iota.getAxis()) < shape.size() - tailRank;
    return true;
  case graph::PatternKind::view:
    return keepsView(op, tailRank);
  case graph::PatternKind::reduction: {
    // Positions along an axis come one by one.
    ReductionAxes axes = reductionAxes(op);
    return op->hasAttr("axes") && !axes.keepdims &&
           keepsReduction(op, axes.axes, tailRank);
  }
  case graph::PatternKind::gather: {
    auto gather = cast<ir::GatherOp>(op);
    return uint64_t(gather.getAxis()) < shape.size() - tailRank &&
           keepsTail(gather.getX(), tailRank) &&
           keepsTail(gather.getIndices(), tailRank);
  }
  default:
    return false;
  }
}

} // namespace sinter::compiler
