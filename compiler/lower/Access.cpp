/// How a tensor inside a kernel lies in memory, without emitting anything.
#include "compiler/lower/Access.h"

#include "compiler/lower/WindowViews.h"
#include "dialects/sinter/Dialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::compiler {

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

static bool reshapeRunsAlong(ir::ReshapeOp op, unsigned dim) {
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
  auto reshape = tensor.getDefiningOp<ir::ReshapeOp>();
  auto axes = reshape ? axesBehind(reshape, dim) : std::nullopt;
  if (!axes || axes->first + 1 == axes->second)
    return 0;
  return std::max<int64_t>(
      0, constantOf(shapeOf(reshape.getX())[axes->second - 1]));
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
  return llvm::all_of(op->getOperands(),
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
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return runsAlong(operand, dim); });
  case graph::PatternKind::view:
    return viewRunsAlong(op, dim);
  case graph::PatternKind::source:
  case graph::PatternKind::random:
    return true;
  default:
    return false;
  }
}

bool fitsHalf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return false;
  if (auto cast = dyn_cast<ir::CastOp>(op)) {
    auto from = dyn_cast<IntegerType>(elementOf(cast.getX()));
    return from && (from.getWidth() < 16 ||
                    (from.getWidth() == 16 && !from.isUnsigned()));
  }
  // What else a view puts between its operand's elements may be larger.
  bool isPlain = isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp, ir::FlipOp,
                     ir::BroadcastOp>(op);
  return isPlain && fitsHalf(op->getOperand(0));
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
  if (isa<ir::FlipOp, ir::PadOp, ir::ConcatOp, ir::UnwindowOp>(op) ||
      cast<ir::SinterOpInterface>(op).getPatternKind() !=
          graph::PatternKind::view)
    return true;
  return isComputed(op->getOperand(0));
}

} // namespace sinter::compiler
