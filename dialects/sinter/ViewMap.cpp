/// What each view says of itself, and what follows from it.
#include "dialects/sinter/ViewMap.h"

#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/Types.h"
#include "sinter/generated/classes/View.h"
#include "sinter/generated/classes/Windows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::ir {

using Extents = SmallVector<AffineExpr>;

static Extents extentsOf(Value value) {
  return dimsOf(cast<RankedTensorType>(value.getType()));
}

static bool isNumber(AffineExpr expr, int64_t number) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == number;
}

//===- The views ----------------------------------------------------------===//

// The axes as they are: each leads to the dim that is `shift` further on.
static ViewPart passedOn(Value operand, unsigned shift = 0) {
  AffineExpr zero = getAffineConstantExpr(0, operand.getContext());
  ViewPart part{operand, {}};
  for (auto [number, extent] : llvm::enumerate(extentsOf(operand))) {
    AxisMap &axis = part.axes.emplace_back();
    axis.extent = extent;
    axis.terms.push_back({unsigned(number) + shift, 1});
    axis.start = zero;
  }
  return part;
}

// Where a view begins along an axis, with what launches add.
static AffineExpr beginOf(Operation *view, int64_t known, unsigned dim) {
  AffineExpr begin = getAffineConstantExpr(known, view->getContext());
  auto offsets = view->getAttrOfType<AffineMapAttr>(offsetsAttr);
  return offsets ? begin + offsets.getValue().getResult(dim) : begin;
}

static TypedAttr zeroOf(Operation *view) {
  return IntegerAttr::get(IntegerType::get(view->getContext(), 64), 0);
}

void ReshapeOp::describe(ViewMap &map) {
  map.keepsLinearOrder = true;
  map.parts.push_back({getX(), {}});
}

void TransposeOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  for (auto [dim, axis] : llvm::enumerate(getPermutation()))
    part.axes[axis].terms.front().dim = unsigned(dim);
  map.parts.push_back(std::move(part));
}

void BroadcastOp::describe(ViewMap &map) {
  unsigned added = map.rank() - unsigned(extentsOf(getX()).size());
  ViewPart part = passedOn(getX(), added);
  for (auto [number, axis] : llvm::enumerate(part.axes))
    if (axis.extent != map.shape[number + added])
      axis.terms.clear();
  map.parts.push_back(std::move(part));
}

void SliceOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  for (auto [number, axis] : llvm::enumerate(part.axes)) {
    axis.terms.front().factor = getSteps()[number];
    axis.start = beginOf(*this, getStarts()[number], unsigned(number));
  }
  map.parts.push_back(std::move(part));
}

void FlipOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  for (int64_t number : getAxes()) {
    AxisMap &axis = part.axes[number];
    if (isOne(axis.extent))
      continue;
    axis.terms.front().factor = -1;
    axis.start = axis.extent - 1;
  }
  map.parts.push_back(std::move(part));
}

void ConcatOp::describe(ViewMap &map) {
  AffineExpr begin = getAffineConstantExpr(0, getContext());
  for (Value operand : getXs()) {
    ViewPart part = passedOn(operand);
    AxisMap &axis = part.axes[getAxis()];
    axis.start = begin * -1;
    axis.isMasked = getXs().size() > 1;
    begin = begin + axis.extent;
    map.parts.push_back(std::move(part));
  }
}

void PadOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  for (auto [number, axis] : llvm::enumerate(part.axes)) {
    AffineExpr begin = beginOf(*this, getLow()[number], unsigned(number));
    axis.start = begin * -1;
    axis.least = -getLow()[number];
    axis.spacing = getInterior()[number] + 1;
    axis.isMasked = !isNumber(begin, 0) || axis.spacing != 1 ||
                    axis.extent != map.shape[number];
  }
  map.fill = getValue();
  map.parts.push_back(std::move(part));
}

// Of all of the axis, it begins at 0 whatever number it is given.
static void describeStart(ViewMap &map, Value operand, Value start,
                          unsigned number, int moves) {
  ViewPart part = passedOn(operand);
  AxisMap &axis = part.axes[number];
  if (axis.extent != map.shape[number]) {
    axis.moves = moves;
    axis.isMasked = moves < 0;
    map.start = start;
  }
  map.parts.push_back(std::move(part));
}

void DynamicSliceOp::describe(ViewMap &map) {
  describeStart(map, getX(), getStart(), getAxis(), 1);
}

void DynamicPadOp::describe(ViewMap &map) {
  map.fill = zeroOf(*this);
  describeStart(map, getX(), getStart(), getAxis(), -1);
}

void WindowOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  for (auto [number, axis] : llvm::enumerate(getAxes())) {
    auto &terms = part.axes[axis].terms;
    terms.front().factor = getStrides()[number];
    terms.push_back({part.rank() + unsigned(number), getDilations()[number]});
  }
  map.parts.push_back(std::move(part));
}

void UnwindowOp::describe(ViewMap &map) {
  ViewPart part = passedOn(getX());
  // The operand has the windows' axes, as well, along which nothing moves.
  unsigned rank = part.rank() - unsigned(getAxes().size());
  for (auto [number, moved] : llvm::enumerate(getAxes())) {
    AxisMap &axis = part.axes[moved];
    axis.terms.push_back({rank + unsigned(number), -getDilations()[number]});
    axis.spacing = getStrides()[number];
    axis.least = -(getSizes()[number] - 1) * getDilations()[number];
    axis.isMasked = true;
  }
  map.fill = zeroOf(*this);
  map.parts.push_back(std::move(part));
}

//===- What follows -------------------------------------------------------===//

bool AxisMap::isAlong(unsigned dim) const {
  return isFixed() && terms.size() == 1 && terms.front().dim == dim &&
         terms.front().factor == 1 && isNumber(start, 0);
}

std::optional<ViewPart::Place> ViewPart::along(unsigned dim) const {
  for (auto [number, axis] : llvm::enumerate(axes))
    for (auto [term, each] : llvm::enumerate(axis.terms))
      if (each.dim == dim)
        return Place{unsigned(number), unsigned(term)};
  return std::nullopt;
}

bool ViewMap::passes(const AxisMap &axis, unsigned dim) const {
  return axis.isAlong(dim) && axis.extent == shape[dim];
}

bool ViewMap::hasAll(const AxisMap &axis) const {
  return axis.isFixed() && axis.terms.size() == 1 &&
         std::abs(axis.terms.front().factor) == 1 &&
         axis.extent == shape[axis.terms.front().dim];
}

bool ViewMap::passesTail(const ViewPart &part, unsigned count) const {
  if (count > part.rank())
    return false;
  for (unsigned back = 1; back <= count; ++back) {
    unsigned axis = part.rank() - back, dim = rank() - back;
    if (!passes(part.axes[axis], dim) || part.along(dim)->axis != axis)
      return false;
  }
  return true;
}

bool ViewMap::repeatsTail(unsigned count) const {
  if (parts.size() != 1)
    return false;
  for (unsigned dim = rank() - count; dim < rank(); ++dim) {
    auto place = part().along(dim);
    if (place && !(isOne(shape[dim]) && passes(part().axes[place->axis], dim) &&
                   place->axis + rank() == dim + part().rank()))
      return false;
  }
  return true;
}

bool ViewMap::keepsAxes() const {
  if (parts.size() != 1 || keepsLinearOrder || part().rank() != rank())
    return false;
  for (auto [number, axis] : llvm::enumerate(part().axes))
    if (axis.terms.size() != 1 || axis.terms.front().dim != number)
      return false;
  return true;
}

bool ViewMap::isFixed() const {
  return parts.size() == 1 &&
         llvm::all_of(part().axes,
                      [](const AxisMap &axis) { return axis.isFixed(); });
}

bool ViewMap::isStrided() const {
  return isFixed() && llvm::all_of(part().axes, [](const AxisMap &axis) {
           return llvm::all_of(axis.terms, [](const AxisMap::Term &term) {
             return term.factor >= 0;
           });
         });
}

std::optional<SmallVector<int64_t>> ViewMap::permutation() const {
  if (parts.size() != 1 || keepsLinearOrder || part().rank() != rank())
    return std::nullopt;
  SmallVector<int64_t> order(rank(), 0);
  for (auto [number, axis] : llvm::enumerate(part().axes)) {
    if (axis.terms.size() != 1 || !passes(axis, axis.terms.front().dim))
      return std::nullopt;
    order[axis.terms.front().dim] = int64_t(number);
  }
  return order;
}

bool ViewMap::repeats() const {
  if (parts.size() != 1 || keepsLinearOrder || part().rank() > rank())
    return false;
  unsigned added = rank() - part().rank();
  bool isMore = added > 0;
  for (auto [number, axis] : llvm::enumerate(part().axes)) {
    if (!axis.terms.empty() && !passes(axis, unsigned(number) + added))
      return false;
    isMore |= axis.terms.empty();
  }
  return isMore;
}

bool ViewMap::selects() const {
  return keepsAxes() && isStrided() && !permutation();
}

bool ViewMap::pads() const { return keepsAxes() && fill && !start; }

std::optional<unsigned> ViewMap::joins() const {
  if (parts.size() < 2)
    return std::nullopt;
  auto *joined = llvm::find_if(
      part().axes, [](const AxisMap &axis) { return axis.isMasked; });
  return unsigned(joined - part().axes.begin());
}

SmallVector<ViewWindow, 2> ViewMap::windows() const {
  SmallVector<ViewWindow, 2> found;
  if (parts.size() != 1)
    return found;
  for (auto [number, axis] : llvm::enumerate(part().axes)) {
    if (axis.terms.size() != 2)
      continue;
    auto [position, element] = std::pair(axis.terms[0], axis.terms[1]);
    auto size = dyn_cast<AffineConstantExpr>(shape[element.dim]);
    found.push_back({unsigned(number), element.dim, size ? size.getValue() : 0,
                     position.factor * axis.spacing, std::abs(element.factor)});
  }
  llvm::sort(found, [](const ViewWindow &a, const ViewWindow &b) {
    return a.element < b.element;
  });
  return found;
}

bool ViewMap::takesWindows() const { return !fill && !windows().empty(); }

bool ViewMap::returnsWindows() const { return fill && !windows().empty(); }

std::optional<ViewMap> viewMapOf(Operation *op) {
  auto view = dyn_cast_or_null<ViewOpInterface>(op);
  if (!view)
    return std::nullopt;
  ViewMap map;
  map.shape = extentsOf(op->getResult(0));
  view.describe(map);
  return map;
}

Value reshapedOperand(Value value) {
  Operation *op = value.getDefiningOp();
  return keepsLinearOrder(op) ? op->getOperand(0) : Value();
}

Value repeatedOperand(Value value) {
  Operation *op = value.getDefiningOp();
  return repeatsElements(op) ? op->getOperand(0) : Value();
}

std::optional<Permuted> permutedOperand(Value value) {
  auto map = viewMapOf(value);
  auto order = map ? map->permutation() : std::nullopt;
  if (!order)
    return std::nullopt;
  return Permuted{map->part().operand, std::move(*order)};
}

bool keepsLinearOrder(Operation *op) {
  auto map = viewMapOf(op);
  return map && map->keepsLinearOrder;
}

bool repeatsElements(Operation *op) {
  auto map = viewMapOf(op);
  return map && map->repeats();
}

bool permutesAxes(Operation *op) {
  auto map = viewMapOf(op);
  return map && map->permutation();
}

} // namespace sinter::ir
