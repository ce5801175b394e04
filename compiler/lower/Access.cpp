/// How a tensor inside a kernel lies in memory, without emitting anything.
#include "compiler/lower/Access.h"

#include "compiler/lower/OpsBehind.h"
#include "compiler/lower/WindowViews.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Arithmetic.h"
#include "sinter/generated/classes/View.h"
#include "sinter/generated/classes/Windows.h"

#include "llvm/ADT/SetVector.h"

#include <numeric>

using namespace mlir;

namespace sinter::compiler {

AffineExpr startOf(Operation *view, unsigned dim) {
  auto slice = dyn_cast<ir::SliceOp>(view);
  ArrayRef<int64_t> known =
      slice ? slice.getStarts() : cast<ir::PadOp>(view).getLow();
  AffineExpr start = getAffineConstantExpr(known[dim], view->getContext());
  auto offsets = view->getAttrOfType<AffineMapAttr>(offsetsAttr);
  return offsets ? start + offsets.getValue().getResult(dim) : start;
}

bool isZero(AffineExpr expr) {
  auto number = dyn_cast<AffineConstantExpr>(expr);
  return number && number.getValue() == 0;
}

static bool isPointwise(Operation *op) {
  return cast<ir::SinterOpInterface>(op).getPatternKind() ==
             graph::PatternKind::pointwise &&
         op->getNumOperands() > 0;
}

// Whether a view passes axes on as they are, but for where they begin and end.
static bool keepsAxes(Operation *op) {
  return isa<ir::PadOp, ir::SliceOp, ir::FlipOp, ir::DynamicSliceOp,
             ir::DynamicPadOp>(op);
}

// What a view has the elements of: not the number that says where it begins.
static OperandRange elementOperands(Operation *view) {
  bool begins = isa<ir::DynamicSliceOp, ir::DynamicPadOp>(view);
  return begins ? view->getOperands().take_front(1) : view->getOperands();
}

// The axes [first, second) of a reshape's operand that one axis is made of.
static std::optional<std::pair<unsigned, unsigned>> axesBehind(ir::ReshapeOp op,
                                                               unsigned dim) {
  Shape outer = shapeOf(op.getResult()), inner = shapeOf(op.getX());
  MLIRContext *context = op.getContext();
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
static bool isLastOfBuffer(ir::ReshapeOp op, unsigned dim) {
  Value tensor = op.getX();
  while (auto reshape = tensor.getDefiningOp<ir::ReshapeOp>())
    tensor = reshape.getX();
  return isa<BlockArgument>(tensor) &&
         llvm::all_of(ArrayRef(shapeOf(op.getResult())).drop_front(dim + 1),
                      isOne);
}

static bool reshapeRunsAlong(ir::ReshapeOp op, unsigned dim) {
  if (isLastOfBuffer(op, dim))
    return true;
  auto axes = axesBehind(op, dim);
  if (!axes)
    return false;
  // Of several axes made one: mostly neighbours, where the last is long.
  constexpr int64_t longRun = 16;
  unsigned last = axes->second - 1;
  bool isOneAxis = axes->first == last;
  return (isOneAxis || constantOf(shapeOf(op.getX())[last]) >= longRun) &&
         runsAlong(op.getX(), last);
}

int64_t innerRun(Value tensor, unsigned dim) {
  while (auto conversion = tensor.getDefiningOp<ir::CastOp>())
    tensor = conversion.getX();
  auto reshape = tensor.getDefiningOp<ir::ReshapeOp>();
  auto axes = reshape ? axesBehind(reshape, dim) : std::nullopt;
  if (!axes || axes->first + 1 == axes->second)
    return 0;
  return std::max<int64_t>(
      0, constantOf(shapeOf(reshape.getX())[axes->second - 1]));
}

// Of a view.
static int64_t neighboursBehind(Operation *op, unsigned dim) {
  Value operand = op->getOperand(0);
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op)) {
    if (isLastOfBuffer(reshape, dim))
      return shapeOf(reshape.getResult())[dim].getLargestKnownDivisor();
    auto axes = axesBehind(reshape, dim);
    if (!axes)
      return 1;
    Shape inner = shapeOf(operand);
    unsigned last = axes->second - 1;
    while (last > axes->first && isOne(inner[last]))
      --last;
    // Of several axes made one, rows consist of whole runs.
    int64_t count = neighboursAlong(operand, last);
    return last == axes->first
               ? count
               : std::gcd(count, int64_t(inner[last].getLargestKnownDivisor()));
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return neighboursAlong(operand, transpose.getPermutation()[dim]);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return slice.getSteps()[dim] == 1
               ? std::gcd(neighboursAlong(operand, dim),
                          startOf(slice, dim).getLargestKnownDivisor())
               : 1;
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return llvm::is_contained(flip.getAxes(), int64_t(dim))
               ? 1
               : neighboursAlong(operand, dim);
  if (auto pad = dyn_cast<ir::PadOp>(op))
    return pad.getInterior()[dim] == 0
               ? std::gcd(neighboursAlong(operand, dim),
                          startOf(pad, dim).getLargestKnownDivisor())
               : 1;
  if (auto slice = dyn_cast<ir::DynamicSliceOp>(op))
    return slice.getAxis() == dim ? 1 : neighboursAlong(operand, dim);
  if (auto pad = dyn_cast<ir::DynamicPadOp>(op))
    return pad.getAxis() == dim ? 1 : neighboursAlong(operand, dim);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) {
    Shape outer = shapeOf(broadcast.getResult()), inner = shapeOf(operand);
    unsigned offset = outer.size() - inner.size();
    bool isAlike = dim < offset || inner[dim - offset] != outer[dim];
    return isAlike ? 0 : neighboursAlong(operand, dim - offset);
  }
  auto window = dyn_cast<ir::WindowOp>(op);
  if (!window)
    return 1;
  bool isOfWindows = dim >= shapeOf(operand).size() ||
                     llvm::is_contained(window.getAxes(), int64_t(dim));
  if (!isOfWindows)
    return neighboursAlong(operand, dim);
  return windowRunsAlong(op, dim)
             ? shapeOf(window.getResult())[dim].getLargestKnownDivisor()
             : 1;
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
    return neighboursBehind(op, dim);
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
  if (auto window = dyn_cast<ir::WindowOp>(op)) {
    bool isPosition = llvm::is_contained(window.getAxes(), int64_t(dim));
    return isPosition || (dim < shapeOf(window.getX()).size() &&
                          runsOverWindows(window.getX(), dim));
  }
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op)) {
    auto axes = axesBehind(reshape, dim);
    return axes && runsOverWindows(reshape.getX(), axes->second - 1);
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return runsOverWindows(transpose.getX(), transpose.getPermutation()[dim]);
  if (keepsAxes(op))
    return runsOverWindows(op->getOperand(0), dim);
  return isPointwise(op) &&
         llvm::any_of(behindArithmetic(tensor),
                      [&](Value leaf) { return runsOverWindows(leaf, dim); });
}

bool beginsOutermost(Value tensor, unsigned dim) {
  Operation *op = tensor.getDefiningOp();
  Shape shape = shapeOf(tensor);
  if (!op)
    return llvm::all_of(ArrayRef(shape).take_front(dim),
                        [](AffineExpr extent) { return isOne(extent); });
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op)) {
    auto axes = axesBehind(reshape, dim);
    if (axes && beginsOutermost(reshape.getX(), axes->first))
      return true;
    // The first part of an axis begins where that does.
    Shape inner = shapeOf(reshape.getX());
    auto *slowest = llvm::find_if_not(inner, isOne);
    return slowest != inner.end() &&
           llvm::all_of(ArrayRef(shape).take_front(dim), isOne) &&
           beginsOutermost(reshape.getX(), unsigned(slowest - inner.begin()));
  }
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    auto begins = [&](unsigned axis) {
      return beginsOutermost(transpose.getX(),
                             unsigned(transpose.getPermutation()[axis]));
    };
    // An axis of one element before it may be the slowest of its axes, too.
    bool isFound = begins(dim);
    while (!isFound && dim > 0 && isOne(shape[dim - 1]))
      isFound = begins(--dim);
    return isFound;
  }
  if (keepsAxes(op))
    return beginsOutermost(op->getOperand(0), dim);
  return isPointwise(op) &&
         llvm::all_of(behindArithmetic(tensor),
                      [&](Value leaf) { return beginsOutermost(leaf, dim); });
}

static bool viewRunsAlong(Operation *op, unsigned dim) {
  Value operand = op->getOperand(0);
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return reshapeRunsAlong(reshape, dim);
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return runsAlong(operand, transpose.getPermutation()[dim]);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return slice.getSteps()[dim] == 1 && runsAlong(operand, dim);
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return !llvm::is_contained(flip.getAxes(), int64_t(dim)) &&
           runsAlong(operand, dim);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) {
    Shape outer = shapeOf(broadcast.getResult()), inner = shapeOf(operand);
    unsigned offset = outer.size() - inner.size();
    if (dim < offset || inner[dim - offset] != outer[dim])
      return true;
    return runsAlong(operand, dim - offset);
  }
  if (isa<ir::WindowOp, ir::UnwindowOp>(op))
    return windowRunsAlong(op, dim);
  return llvm::all_of(elementOperands(op),
                      [&](Value part) { return runsAlong(part, dim); });
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
    return viewRunsAlong(op, dim);
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

static Interior padInterior(ir::PadOp op, unsigned dim) {
  Shape inner = shapeOf(op.getX());
  AffineExpr start = startOf(op, dim);
  int64_t size = constantOf(inner[dim]);
  bool pads = !isZero(start) || op.getInterior()[dim] != 0 ||
              shapeOf(op.getResult())[dim] != inner[dim];
  Interior within = interiorOf(op.getX(), dim);
  if (!pads)
    return within;
  auto known = dyn_cast<AffineConstantExpr>(start);
  if (op.getInterior()[dim] != 0 || size < 0 || !known)
    return {};
  int64_t low = known.getValue();
  within = within.both({0, size});
  int64_t first = std::max<int64_t>(0, within.low + low);
  return {first, std::max(first, within.high + low)};
}

static Interior windowInterior(ir::WindowOp op, unsigned dim) {
  unsigned rank = shapeOf(op.getX()).size();
  if (dim >= rank)
    return Interior::everything();
  Interior within = interiorOf(op.getX(), dim);
  for (auto [axis, size, stride, dilation] : llvm::zip(
           op.getAxes(), op.getSizes(), op.getStrides(), op.getDilations())) {
    if (axis != int64_t(dim) || within.isAll())
      continue;
    int64_t first = (within.low + stride - 1) / stride;
    int64_t last = within.high - 1 - (size - 1) * dilation;
    return {first, std::max(first, last < 0 ? 0 : last / stride + 1)};
  }
  return within;
}

static Interior viewInterior(Operation *op, unsigned dim) {
  if (auto pad = dyn_cast<ir::PadOp>(op))
    return padInterior(pad, dim);
  if (auto window = dyn_cast<ir::WindowOp>(op))
    return windowInterior(window, dim);
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return interiorOf(transpose.getX(), transpose.getPermutation()[dim]);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op)) {
    Shape outer = shapeOf(broadcast.getResult());
    Shape inner = shapeOf(broadcast.getX());
    unsigned offset = outer.size() - inner.size();
    if (dim >= offset && inner[dim - offset] == outer[dim])
      return interiorOf(broadcast.getX(), dim - offset);
  }
  auto reshape = dyn_cast<ir::ReshapeOp>(op);
  auto axes = reshape ? axesBehind(reshape, dim) : std::nullopt;
  if (axes && axes->first + 1 == axes->second)
    return interiorOf(reshape.getX(), axes->first);
  return Interior::everything();
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
    return viewInterior(op, dim);
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

static void transposeView(ir::TransposeOp op, StridedView &view) {
  SmallVector<AffineExpr> inner(view.strides);
  for (auto [dim, from] : llvm::enumerate(op.getPermutation()))
    view.strides[dim] = inner[from];
}

static void broadcastView(ir::BroadcastOp op, StridedView &view) {
  Shape outer = shapeOf(op.getResult()), inner = shapeOf(op.getX());
  unsigned offset = outer.size() - inner.size();
  AffineExpr zero = getAffineConstantExpr(0, op.getContext());
  SmallVector<AffineExpr> strides(outer.size(), zero);
  for (unsigned dim = offset; dim < outer.size(); ++dim)
    if (inner[dim - offset] == outer[dim])
      strides[dim] = view.strides[dim - offset];
  view.strides = strides;
}

static void sliceView(ir::SliceOp op, StridedView &view) {
  for (auto [dim, stride] : llvm::enumerate(view.strides)) {
    view.offset = view.offset + stride * startOf(op, dim);
    stride = stride * op.getSteps()[dim];
  }
}

static void windowView(ir::WindowOp op, StridedView &view) {
  SmallVector<AffineExpr> inner(view.strides);
  for (auto [axis, stride, dilation] :
       llvm::zip(op.getAxes(), op.getStrides(), op.getDilations())) {
    view.strides[axis] = inner[axis] * stride;
    view.strides.push_back(inner[axis] * dilation);
  }
}

// Axes that were split have their parts' strides; those that became one have to
// follow each other in steps of one size, as far as they have more than one
// element.
static bool reshapeView(ir::ReshapeOp op, StridedView &view) {
  Shape from = shapeOf(op.getX()), to = shapeOf(op.getResult());
  MLIRContext *context = op.getContext();
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
  Operation *op = tensor.getDefiningOp();
  if (!isa<ir::ReshapeOp, ir::TransposeOp, ir::BroadcastOp, ir::SliceOp,
           ir::WindowOp>(op))
    return std::nullopt;
  auto view = stridedView(op->getOperand(0), leaf, pitch);
  if (!view)
    return std::nullopt;
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    transposeView(transpose, *view);
  else if (auto broadcast = dyn_cast<ir::BroadcastOp>(op))
    broadcastView(broadcast, *view);
  else if (auto slice = dyn_cast<ir::SliceOp>(op))
    sliceView(slice, *view);
  else if (auto window = dyn_cast<ir::WindowOp>(op))
    windowView(window, *view);
  else if (view->strides == denseStrides(shapeOf(op->getOperand(0)), context))
    view->strides = denseStrides(shapeOf(tensor), context);
  else if (!reshapeView(cast<ir::ReshapeOp>(op), *view))
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
  bool isPlain = isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp, ir::FlipOp,
                     ir::BroadcastOp, ir::DynamicSliceOp>(op);
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
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (isa<ir::FlipOp, ir::PadOp, ir::ConcatOp, ir::UnwindowOp,
          ir::DynamicSliceOp, ir::DynamicPadOp>(op) ||
      cast<ir::SinterOpInterface>(op).getPatternKind() !=
          graph::PatternKind::view)
    return true;
  return isComputed(op->getOperand(0));
}

} // namespace sinter::compiler
