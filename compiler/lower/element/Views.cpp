/// Views that permute, repeat or regroup elements, and slices.
#include "compiler/lower/element/Views.h"

#include "compiler/analysis/Access.h"
#include "compiler/analysis/OpsBehind.h"
#include "compiler/lower/element/MaskedViews.h"
#include "compiler/lower/element/ReductionOrder.h"
#include "compiler/lower/element/WindowViews.h"
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
  ReshapeSource(Value tensor, Value operand)
      : ElementSource(tensor), operand(operand) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    Index inner =
        reshapeIndex(emission, index, shapeOf(tensor), shapeOf(operand));
    return emission.at(operand, inner, lanes);
  }

private:
  Value operand;
};

// Each element is one of the operand.
class MappedSource final : public ElementSource {
public:
  MappedSource(Value tensor, ir::ViewMap map)
      : ElementSource(tensor), view(std::move(map)) {}

  Element at(Emission &emission, const Index &index,
             const Lanes &lanes) override {
    const ir::ViewPart &part = view.map.part();
    Index split = view.splitTail(emission, index);
    return emission.at(part.operand, view.indexOf(emission, part, split),
                       lanes);
  }

private:
  ViewIndex view;
};

} // namespace

ViewIndex::ViewIndex(ir::ViewMap given)
    : map(std::move(given)), start(map.start),
      ordersAxes(llvm::any_of(map.parts, [&](const ir::ViewPart &part) {
        unsigned added = map.rank() - part.rank();
        return llvm::any_of(llvm::enumerate(part.axes), [&](auto each) {
          auto &terms = each.value().terms;
          return terms.size() > 1 ||
                 (!terms.empty() &&
                  terms.front().dim != unsigned(each.index()) + added);
        });
      })) {}

bool ViewIndex::keepsTail(unsigned count) const {
  return llvm::all_of(map.parts, [&](const ir::ViewPart &part) {
    return map.passesTail(part, count);
  });
}

Index ViewIndex::splitTail(Emission &emission, const Index &index) const {
  Index split = index;
  auto isServed = [&] {
    return split.tailRank <= 1 || keepsTail(split.tailRank) ||
           map.repeatsTail(split.tailRank);
  };
  Shape shape(map.shape);
  if (ordersAxes && !isServed())
    return emission.fromCoordinates(emission.coordinates(index, shape));
  while (!isServed())
    split = emission.withTail(split, shape, split.tailRank - 1);
  return split;
}

// In the order of the terms; what is taken away is taken from the start.
static Coord sumOf(Emission &emission, const ir::AxisMap &axis,
                   llvm::function_ref<Coord(unsigned)> coordinate) {
  MLIRContext *context = axis.start.getContext();
  std::optional<Coord> sum;
  bool hasStart = isZero(axis.start);
  auto start = [&] {
    hasStart = true;
    return emission.uniform(emission.extent(axis.start));
  };
  for (const ir::AxisMap::Term &term : axis.terms) {
    Coord scaled =
        emission.scale(coordinate(term.dim),
                       getAffineConstantExpr(std::abs(term.factor), context));
    if (term.factor < 0)
      sum = emission.sub(sum ? *sum : start(), scaled);
    else
      sum = sum ? emission.add(*sum, scaled) : scaled;
  }
  if (!sum)
    return start();
  return hasStart ? *sum : emission.add(*sum, start());
}

Coord ViewIndex::sum(Emission &emission, const ir::AxisMap &axis,
                     const Index &split) {
  Coord result = sumOf(emission, axis, [&](unsigned dim) {
    return dim < split.lead.size() ? split.lead[dim] : split.tail;
  });
  if (axis.moves == 0)
    return result;
  AffineExpr outer = map.shape[axis.terms.front().dim];
  if (axis.moves > 0)
    return emission.add(result, start.within(emission, axis.extent - outer));
  return emission.sub(result, start.within(emission, outer - axis.extent));
}

Index ViewIndex::indexOf(Emission &emission, const ir::ViewPart &part,
                         const Index &split) {
  Index result;
  result.tailRank = std::min(split.tailRank, part.rank());
  unsigned lead = part.rank() - result.tailRank;
  for (const ir::AxisMap &axis : ArrayRef(part.axes).take_front(lead))
    result.lead.push_back(sum(emission, axis, split));
  if (split.tailRank == 1 && result.tailRank == 1)
    result.tail = sum(emission, part.axes.back(), split);
  else if (map.passesTail(part, split.tailRank))
    result.tail = split.tail;
  else
    result.tail = emission.uniform(emission.constant(0));
  return result;
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
  auto map = ir::viewMapOf(tensor);
  if (!map)
    return nullptr;
  if (map->keepsLinearOrder)
    return std::make_unique<ReshapeSource>(tensor, map->part().operand);
  bool isMasked = map->fill || map->parts.size() > 1;
  if (isMasked)
    return map->windows().empty() ? makeMaskedView(tensor, std::move(*map))
                                  : makeUnwindowed(tensor, std::move(*map));
  return std::make_unique<MappedSource>(tensor, std::move(*map));
}

static bool keepsReshape(Value tensor, Value operand, unsigned tailRank) {
  auto [left, right] = matchTails(shapeOf(tensor), shapeOf(operand), tailRank,
                                  tensor.getContext());
  (void)left;
  return right == 0 || keepsTail(operand, right);
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

static bool keepsView(Value tensor, unsigned tailRank) {
  auto map = ir::viewMapOf(tensor);
  if (!map)
    return false;
  if (map->keepsLinearOrder)
    return keepsReshape(tensor, map->part().operand, tailRank);
  auto keeps = [&](const ir::ViewPart &part) {
    return map->passesTail(part, tailRank) && keepsTail(part.operand, tailRank);
  };
  bool isAlike =
      map->repeatsTail(tailRank) && !map->passesTail(map->part(), tailRank);
  return isAlike || llvm::all_of(map->parts, keeps);
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
    return keepsView(tensor, tailRank);
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
