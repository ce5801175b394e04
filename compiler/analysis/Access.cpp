/// How a tensor inside a kernel lies in memory, without emitting anything.
#include "compiler/analysis/Access.h"

#include "compiler/analysis/OpsBehind.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/View.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

bool isZero(AffineExpr expr) {
  auto number = dyn_cast<AffineConstantExpr>(expr);
  return number && number.getValue() == 0;
}

static bool isPointwise(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind() ==
             graph::PatternKind::pointwise &&
         op->getNumOperands() > 0;
}

// The axes [first, second) of what is reshaped that one axis is made of.
static std::optional<std::pair<unsigned, unsigned>>
axesBehind(const Shape &outer, const Shape &inner, unsigned dim) {
  MLIRContext *context = outer[dim].getContext();
  AffineExpr below = product(outer, dim + 1, outer.size(), context);
  for (unsigned end = inner.size(); end > 0; --end) {
    if (isOne(inner[end - 1]) ||
        product(inner, end, inner.size(), context) != below)
      continue;
    for (unsigned from = end; from-- > 0;)
      if (product(inner, from, end, context) == outer[dim])
        return std::pair(from, end);
  }
  return std::nullopt;
}

// Whether a reshape is of a buffer, whose elements lie in the order of their
// numbers, and no axis behind has more than one: neighbours lie along it,
// whatever axes it is made of.
static bool isLastOfBuffer(Value tensor, unsigned dim) {
  Value base = tensor;
  while (Value inner = ir::reshapedOperand(base))
    base = inner;
  return isa<BlockArgument>(base) &&
         llvm::all_of(ArrayRef(shapeOf(tensor)).drop_front(dim + 1), isOne);
}

static bool reshapeRunsAlong(Value tensor, Value operand, unsigned dim) {
  if (isLastOfBuffer(tensor, dim))
    return true;
  Shape inner = shapeOf(operand);
  auto axes = axesBehind(shapeOf(tensor), inner, dim);
  if (!axes)
    return false;
  // Of several axes made one: mostly neighbours, where the last is long.
  constexpr int64_t longRun = 16;
  unsigned last = axes->second - 1;
  bool isOneAxis = axes->first == last;
  return (isOneAxis || constantOf(inner[last]) >= longRun) &&
         runsAlong(operand, last);
}

int64_t innerRun(Value tensor, unsigned dim) {
  while (auto conversion = tensor.getDefiningOp<ir::CastOp>())
    tensor = conversion.getX();
  Value operand = ir::reshapedOperand(tensor);
  if (!operand)
    return 0;
  Shape inner = shapeOf(operand);
  auto axes = axesBehind(shapeOf(tensor), inner, dim);
  if (!axes || axes->first + 1 == axes->second)
    return 0;
  return std::max<int64_t>(0, constantOf(inner[axes->second - 1]));
}

static int64_t neighboursReshaped(Value tensor, Value operand, unsigned dim) {
  if (isLastOfBuffer(tensor, dim))
    return shapeOf(tensor)[dim].getLargestKnownDivisor();
  Shape inner = shapeOf(operand);
  auto axes = axesBehind(shapeOf(tensor), inner, dim);
  if (!axes)
    return 1;
  unsigned last = axes->second - 1;
  while (last > axes->first && isOne(inner[last]))
    --last;
  // Of several axes made one, rows consist of whole runs.
  int64_t count = neighboursAlong(operand, last);
  return last == axes->first
             ? count
             : std::gcd(count, int64_t(inner[last].getLargestKnownDivisor()));
}

// Of a view.
static int64_t neighboursBehind(Value tensor, unsigned dim) {
  auto map = ir::viewMapOf(tensor);
  // Which elements a mask leaves is not known of those that are joined, or of
  // windows that lie over each other.
  if (!map || map->parts.size() > 1 || map->returnsWindows())
    return 1;
  Value operand = map->part().operand;
  if (map->keepsLinearOrder)
    return neighboursReshaped(tensor, operand, dim);
  auto place = map->part().along(dim);
  if (!place)
    return 0;
  const ir::AxisMap &axis = map->part().axes[place->axis];
  if (axis.terms[place->term].factor != 1 || axis.spacing != 1 || axis.moves)
    return 1;
  if (axis.terms.size() > 1)
    return runsAlong(operand, place->axis)
               ? map->shape[dim].getLargestKnownDivisor()
               : 1;
  return std::gcd(neighboursAlong(operand, place->axis),
                  axis.start.getLargestKnownDivisor());
}

int64_t neighboursAlong(Value tensor, unsigned dim) {
  Shape shape = shapeOf(tensor);
  Operation *op = tensor.getDefiningOp();
  if (isOne(shape[dim]))
    return 0;
  if (!op)
    return dim + 1 == shape.size() ? shape[dim].getLargestKnownDivisor() : 1;
  int64_t count = 0;
  switch (cast<ir::SinterOpInterface>(op).getPatternKind()) {
  case graph::PatternKind::pointwise:
    for (Value leaf : behindArithmetic(tensor))
      count = std::gcd(count, neighboursAlong(leaf, dim));
    return count;
  case graph::PatternKind::view:
    return neighboursBehind(tensor, dim);
  case graph::PatternKind::source:
  case graph::PatternKind::random:
    return shape[dim].getLargestKnownDivisor();
  default:
    return 1;
  }
}

bool runsOverWindows(Value tensor, unsigned dim) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  auto map = ir::viewMapOf(op);
  if (!map)
    return isPointwise(op) &&
           llvm::any_of(behindArithmetic(tensor),
                        [&](Value leaf) { return runsOverWindows(leaf, dim); });
  Value operand = map->part().operand;
  if (map->keepsLinearOrder) {
    auto axes = axesBehind(shapeOf(tensor), shapeOf(operand), dim);
    return axes && runsOverWindows(operand, axes->second - 1);
  }
  auto place = map->part().along(dim);
  if (!place)
    return false;
  if (map->takesWindows()) {
    bool ofWindows = map->part().axes[place->axis].terms.size() > 1;
    return ofWindows ? place->term == 0 : runsOverWindows(operand, place->axis);
  }
  return (map->keepsAxes() || map->permutation()) &&
         runsOverWindows(operand, place->axis);
}

static bool reshapeBeginsOutermost(Value tensor, Value operand, unsigned dim) {
  Shape shape = shapeOf(tensor), inner = shapeOf(operand);
  auto axes = axesBehind(shape, inner, dim);
  if (axes && beginsOutermost(operand, axes->first))
    return true;
  // The first part of an axis begins where that does.
  auto *slowest = llvm::find_if_not(inner, isOne);
  return slowest != inner.end() &&
         llvm::all_of(ArrayRef(shape).take_front(dim), isOne) &&
         beginsOutermost(operand, unsigned(slowest - inner.begin()));
}

bool beginsOutermost(Value tensor, unsigned dim) {
  Operation *op = tensor.getDefiningOp();
  Shape shape = shapeOf(tensor);
  if (!op)
    return llvm::all_of(ArrayRef(shape).take_front(dim),
                        [](AffineExpr extent) { return isOne(extent); });
  auto map = ir::viewMapOf(op);
  if (!map)
    return isPointwise(op) &&
           llvm::all_of(behindArithmetic(tensor),
                        [&](Value leaf) { return beginsOutermost(leaf, dim); });
  Value operand = map->part().operand;
  if (map->keepsLinearOrder)
    return reshapeBeginsOutermost(tensor, operand, dim);
  if (auto permutation = map->permutation()) {
    auto begins = [&](unsigned axis) {
      return beginsOutermost(operand, unsigned((*permutation)[axis]));
    };
    // An axis of one element before it may be the slowest of its axes, too.
    bool isFound = begins(dim);
    while (!isFound && dim > 0 && isOne(shape[dim - 1]))
      isFound = begins(--dim);
    return isFound;
  }
  return map->keepsAxes() && beginsOutermost(operand, dim);
}

static bool viewRunsAlong(Value tensor, unsigned dim) {
  auto map = ir::viewMapOf(tensor);
  if (!map)
    return false;
  if (map->keepsLinearOrder)
    return reshapeRunsAlong(tensor, map->part().operand, dim);
  return llvm::all_of(map->parts, [&](const ir::ViewPart &part) {
    auto place = part.along(dim);
    if (!place)
      return true;
    const ir::AxisMap &axis = part.axes[place->axis];
    // What is spaced out still has its neighbours in the buffer, unless windows
    // between which others stand are.
    bool isApart = axis.spacing != 1 && axis.terms.size() > 1;
    return axis.terms[place->term].factor == 1 && !isApart &&
           runsAlong(part.operand, place->axis);
  });
}

bool runsAlong(Value tensor, unsigned dim) {
  Shape shape = shapeOf(tensor);
  Operation *op = tensor.getDefiningOp();
  if (isOne(shape[dim]))
    return true;
  if (!op)
    return dim + 1 == shape.size();
  switch (cast<ir::SinterOpInterface>(op).getPatternKind()) {
  case graph::PatternKind::pointwise:
    return llvm::all_of(behindArithmetic(tensor),
                        [&](Value leaf) { return runsAlong(leaf, dim); });
  case graph::PatternKind::view:
    return viewRunsAlong(tensor, dim);
  case graph::PatternKind::source:
  case graph::PatternKind::random:
    return true;
  default:
    return false;
  }
}

Interior Interior::both(const Interior &other) const {
  int64_t first = std::max(low, other.low);
  return {first, std::max(first, std::min(high, other.high))};
}

// Where an operand that stands among others' elements has its own.
static Interior paddedInterior(const ir::AxisMap &axis, Interior within) {
  int64_t size = constantOf(axis.extent);
  auto begin = dyn_cast<AffineConstantExpr>(axis.start);
  if (axis.spacing != 1 || size < 0 || !begin)
    return {};
  int64_t low = -begin.getValue();
  within = within.both({0, size});
  int64_t first = std::max<int64_t>(0, within.low + low);
  return {first, std::max(first, within.high + low)};
}

// Of the windows that lie within.
static Interior windowInterior(const ir::ViewWindow &window, Interior within) {
  if (within.isAll())
    return within;
  int64_t first = (within.low + window.stride - 1) / window.stride;
  int64_t last = within.high - 1 - (window.size - 1) * window.dilation;
  return {first, std::max(first, last < 0 ? 0 : last / window.stride + 1)};
}

static Interior viewInterior(Value tensor, unsigned dim) {
  Interior all = Interior::everything();
  auto map = ir::viewMapOf(tensor);
  if (!map || map->parts.size() > 1)
    return all;
  const ir::ViewPart &part = map->part();
  if (map->keepsLinearOrder) {
    auto axes = axesBehind(shapeOf(tensor), shapeOf(part.operand), dim);
    return axes && axes->first + 1 == axes->second
               ? interiorOf(part.operand, axes->first)
               : all;
  }
  auto windows = map->windows();
  auto place = part.along(dim);
  if (!place || place->term > 0 || map->returnsWindows())
    return all;
  const ir::AxisMap &axis = part.axes[place->axis];
  auto within = [&] { return interiorOf(part.operand, place->axis); };
  auto *window = llvm::find_if(windows, [&](const ir::ViewWindow &each) {
    return each.axis == place->axis;
  });
  if (window != windows.end())
    return windowInterior(*window, within());
  if (map->pads())
    return axis.isMasked ? paddedInterior(axis, within()) : within();
  bool isPassedOn = !windows.empty() || map->permutation() || map->repeats();
  return isPassedOn ? within() : all;
}

Interior interiorOf(Value tensor, unsigned dim) {
  Operation *op = tensor.getDefiningOp();
  Interior all = Interior::everything();
  if (!op || isOne(shapeOf(tensor)[dim]))
    return all;
  switch (cast<ir::SinterOpInterface>(op).getPatternKind()) {
  case graph::PatternKind::pointwise:
    for (Value leaf : behindArithmetic(tensor))
      all = all.both(interiorOf(leaf, dim));
    return all;
  case graph::PatternKind::view:
    return viewInterior(tensor, dim);
  default:
    return all;
  }
}

//===- Plain views --------------------------------------------------------===//

static SmallVector<AffineExpr> denseStrides(const Shape &shape,
                                            MLIRContext *context) {
  SmallVector<AffineExpr> strides;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    strides.push_back(product(shape, dim + 1, shape.size(), context));
  return strides;
}

static SmallVector<AffineExpr> pitchedStrides(Shape shape, AffineExpr pitch) {
  shape.back() = pitch;
  return denseStrides(shape, pitch.getContext());
}

bool StridedView::runs(unsigned dim) const {
  return constantOf(strides[dim]) == 1;
}

int64_t StridedView::divisibleBy(unsigned dim) const {
  int64_t divisor = int64_t(offset.getLargestKnownDivisor());
  for (auto [other, stride] : llvm::enumerate(strides))
    if (other != dim)
      divisor = std::gcd(divisor, int64_t(stride.getLargestKnownDivisor()));
  return divisor;
}

// The strides of a view from those of its operand.
static void composeView(const ir::ViewMap &map, StridedView &view) {
  AffineExpr zero = getAffineConstantExpr(0, view.offset.getContext());
  SmallVector<AffineExpr> strides(map.rank(), zero);
  for (auto [axis, stride] : llvm::zip(map.part().axes, view.strides)) {
    view.offset = view.offset + stride * axis.start;
    for (const ir::AxisMap::Term &term : axis.terms)
      strides[term.dim] = stride * term.factor;
  }
  view.strides = strides;
}

// Axes that were split have their parts' strides; those that became one have to
// follow each other in steps of one size, as far as they have more than one
// element.
static bool reshapeView(const Shape &from, const Shape &to, StridedView &view) {
  MLIRContext *context = view.offset.getContext();
  SmallVector<AffineExpr> strides(to.size());
  size_t left = from.size(), right = to.size();
  while (right > 0) {
    // Axes [first, left) make those of [outer, right).
    size_t first = left, outer = right - 1;
    AffineExpr inner = getAffineConstantExpr(1, context), result = to[outer];
    while (inner != result) {
      int64_t has = constantOf(inner), wants = constantOf(result);
      bool takesMore = first > 0 && (has < 0 || wants < 0 || has < wants);
      if (takesMore)
        inner = from[--first] * inner;
      else if (outer > 0)
        result = to[--outer] * result;
      else
        return false;
    }
    AffineExpr stride, next; // of the innermost one, and of one further out
    for (size_t axis = left; axis-- > first;) {
      if (isOne(from[axis]))
        continue;
      if (stride && view.strides[axis] != next)
        return false;
      if (!stride)
        stride = view.strides[axis];
      next = view.strides[axis] * from[axis];
    }
    if (!stride)
      stride = getAffineConstantExpr(1, context);
    for (size_t axis = right; axis-- > outer;) {
      strides[axis] = stride;
      stride = stride * to[axis];
    }
    left = first;
    right = outer;
  }
  view.strides = strides;
  return true;
}

std::optional<StridedView> stridedView(Value tensor, Value leaf,
                                       AffineExpr pitch) {
  MLIRContext *context = tensor.getContext();
  if (pitch && tensor == leaf)
    return StridedView{0, getAffineConstantExpr(0, context),
                       pitchedStrides(shapeOf(tensor), pitch)};
  auto argument = dyn_cast<BlockArgument>(tensor);
  if (argument || tensor == leaf)
    return StridedView{argument ? argument.getArgNumber() : 0,
                       getAffineConstantExpr(0, context),
                       denseStrides(shapeOf(tensor), context)};
  auto map = ir::viewMapOf(tensor);
  if (!map || !map->isStrided())
    return std::nullopt;
  Value operand = map->part().operand;
  auto view = stridedView(operand, leaf, pitch);
  if (!view)
    return std::nullopt;
  if (!map->keepsLinearOrder)
    composeView(*map, *view);
  else if (view->strides == denseStrides(shapeOf(operand), context))
    view->strides = denseStrides(shapeOf(tensor), context);
  else if (!reshapeView(shapeOf(operand), shapeOf(tensor), *view))
    return std::nullopt;
  return view;
}

IntegerType narrowPart(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return {};
  if (auto cast = dyn_cast<ir::CastOp>(op)) {
    auto from = dyn_cast<IntegerType>(elementOf(cast.getX()));
    if (!from || from.getWidth() > 16)
      return {};
    bool isUnsigned = from.isUnsigned() || from.getWidth() == 1;
    if (from.getWidth() == 16)
      return isUnsigned ? IntegerType() : from;
    auto sign = isUnsigned ? IntegerType::Unsigned : IntegerType::Signed;
    return IntegerType::get(tensor.getContext(), 8, sign);
  }
  // What else a view puts between its operand's elements may be larger.
  auto map = ir::viewMapOf(op);
  bool isPlain =
      map && map->parts.size() == 1 && !map->fill && map->windows().empty();
  return isPlain ? narrowPart(op->getOperand(0)) : IntegerType();
}

std::optional<LessNumber> lessNumber(Value tensor) {
  auto less = tensor.getDefiningOp<ir::SubOp>();
  auto full = less ? less.getRhs().getDefiningOp<ir::FullOp>() : ir::FullOp();
  auto number = full ? dyn_cast<IntegerAttr>(full.getValue()) : IntegerAttr();
  if (!number || !isa<IntegerType>(elementOf(tensor)))
    return std::nullopt;
  return LessNumber{less.getLhs(), number.getInt()};
}

std::optional<unsigned> onlyInput(Value tensor) {
  llvm::SmallSetVector<Value, 8> behind;
  behind.insert(tensor);
  std::optional<unsigned> input;
  for (unsigned next = 0; next < behind.size(); ++next) {
    if (auto argument = dyn_cast<BlockArgument>(behind[next])) {
      if (input)
        return std::nullopt;
      input = argument.getArgNumber();
    } else {
      behind.insert_range(behind[next].getDefiningOp()->getOperands());
    }
  }
  return input;
}

bool isComputed(Value tensor) {
  if (!tensor.getDefiningOp())
    return false;
  auto map = ir::viewMapOf(tensor);
  return !map || !map->isStrided() || isComputed(map->part().operand);
}

} // namespace sinter::compiler
