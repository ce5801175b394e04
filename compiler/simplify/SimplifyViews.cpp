/// Views: identities vanish, views of views become one.
#include "compiler/fuse/FusionGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "sinter/generated/classes/Contraction.h"
#include "sinter/generated/classes/View.h"
#include "sinter/generated/classes/Windows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sinter::compiler {

static Value reshapeTo(Value value, Type type, unsigned numSymbols,
                       Location loc, OpBuilder &builder) {
  if (value.getType() == type)
    return value;
  return ir::ReshapeOp::create(
      builder, loc, type, value,
      shapeAttr(type.getContext(), dimsOf(type), numSymbols));
}

static Value simplifyReshape(ir::ReshapeOp op, OpBuilder &builder) {
  unsigned symbols = op.getShape().getNumSymbols();
  if (op.getX().getType() == op.getType())
    return op.getX();
  if (auto inner = op.getX().getDefiningOp<ir::ReshapeOp>())
    return reshapeTo(inner.getX(), op.getType(), symbols, op.getLoc(), builder);
  // One repeated number stays one under any shape.
  auto spread = op.getX().getDefiningOp<ir::BroadcastOp>();
  if (!spread || !llvm::all_of(dimsOf(spread.getX().getType()), isOne))
    return {};
  Type element = op.getType().getElementType();
  Value number = reshapeTo(spread.getX(), RankedTensorType::get({}, element),
                           symbols, op.getLoc(), builder);
  return ir::BroadcastOp::create(builder, op.getLoc(), op.getType(), number,
                                 op.getShapeAttr());
}

static Value simplifyBroadcast(ir::BroadcastOp op, OpBuilder &builder) {
  if (op.getX().getType() == op.getType())
    return op.getX();
  // Only ones are added: no element is repeated.
  if (elementCount(op.getX().getType()) == elementCount(op.getType()))
    return ir::ReshapeOp::create(builder, op.getLoc(), op.getType(), op.getX(),
                                 op.getShapeAttr());
  if (auto inner = op.getX().getDefiningOp<ir::BroadcastOp>())
    return ir::BroadcastOp::create(builder, op.getLoc(), op.getType(),
                                   inner.getX(), op.getShapeAttr());
  return {};
}

// With one row or column the exchange is a reshape.
Value exchangedOperand(Value value) {
  Operation *view = value.getDefiningOp();
  if (!view || cast<RankedTensorType>(value.getType()).getRank() < 2)
    return {};
  auto dims = dimsOf(value.getType());
  size_t rank = dims.size();
  if (auto transpose = dyn_cast<ir::TransposeOp>(view)) {
    ArrayRef<int64_t> axes = transpose.getPermutation();
    for (size_t i = 0; i < rank; ++i)
      if (axes[i] != int64_t(i + 2 < rank ? i : 2 * rank - 3 - i))
        return {};
    return transpose.getX();
  }
  if (!isa<ir::ReshapeOp>(view) ||
      (!isOne(dims[rank - 1]) && !isOne(dims[rank - 2])))
    return {};
  std::swap(dims[rank - 1], dims[rank - 2]);
  return dimsOf(view->getOperand(0).getType()) == dims ? view->getOperand(0)
                                                       : Value();
}

Value exchanged(Value value, Location loc, OpBuilder &builder) {
  if (Value before = exchangedOperand(value))
    return before;
  auto type = cast<RankedTensorType>(value.getType());
  auto dims = dimsOf(type);
  size_t rank = dims.size();
  std::swap(dims[rank - 1], dims[rank - 2]);
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < rank; ++i)
    axes.push_back(int64_t(i + 2 < rank ? i : 2 * rank - 3 - i));
  return ir::TransposeOp::create(
      builder, loc, tensorType(type.getElementType(), dims, numSymbolsOf(type)),
      value, builder.getDenseI64ArrayAttr(axes));
}

// (A B)^T is B^T A^T, and no bit differs: each element is the same sum in the
// same order. The contraction's epilogue then sees what follows.
static Value transposeOperands(ir::TransposeOp op, OpBuilder &builder) {
  auto product = ir::matrixProductOf(op.getX());
  if (!product || !product->hasOneUse())
    return {};
  ArrayRef<int64_t> permutation = op.getPermutation();
  int64_t rank = permutation.size();
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t swapped = axis < rank - 2 ? axis : 2 * rank - 3 - axis;
    if (permutation[axis] != swapped)
      return {};
  }
  Value lhs = exchanged(product.getRhs(), op.getLoc(), builder);
  Value rhs = exchanged(product.getLhs(), op.getLoc(), builder);
  Location loc = mergeLocations(product.getLoc(), op.getLoc());
  return ir::MatmulOp::create(builder, loc, op.getType(), lhs, rhs);
}

static Value simplifyTranspose(ir::TransposeOp op, OpBuilder &builder) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  if (auto inner = op.getX().getDefiningOp<ir::TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t axis : permutation)
      composed.push_back(inner.getPermutation()[axis]);
    auto both = ir::TransposeOp::create(builder, op.getLoc(), op.getType(),
                                        inner.getX(),
                                        builder.getDenseI64ArrayAttr(composed));
    if (op->hasAttr(storedAttr) || inner->hasAttr(storedAttr))
      both->setAttr(storedAttr, builder.getUnitAttr());
    return both;
  }
  // Axes longer than one keep their order: the elements stay where they are.
  SmallVector<AffineExpr> dims = dimsOf(op.getX().getType());
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (isOne(dims[axis]))
      continue;
    if (axis < last)
      return transposeOperands(op, builder);
    last = axis;
  }
  return reshapeTo(op.getX(), op.getType(), numSymbolsOf(op), op.getLoc(),
                   builder);
}

static Value simplifySlice(ir::SliceOp op, OpBuilder &builder) {
  auto isZero = [](int64_t start) { return start == 0; };
  auto isUnit = [](int64_t step) { return step == 1; };
  bool dense = llvm::all_of(op.getSteps(), isUnit);
  if (dense && llvm::all_of(op.getStarts(), isZero) &&
      op.getX().getType() == op.getType())
    return op.getX();
  auto inner = op.getX().getDefiningOp<ir::SliceOp>();
  if (!inner || !llvm::all_of(inner.getSteps(), isUnit))
    return {};
  SmallVector<int64_t> starts;
  SmallVector<AffineExpr> limits;
  for (auto [start, innerStart, limit] : llvm::zip(
           op.getStarts(), inner.getStarts(), op.getLimits().getResults())) {
    starts.push_back(start + innerStart);
    limits.push_back(limit + innerStart);
  }
  AffineMap map = AffineMap::get(0, op.getLimits().getNumSymbols(), limits,
                                 op.getContext());
  return ir::SliceOp::create(builder, op.getLoc(), op.getType(), inner.getX(),
                             builder.getDenseI64ArrayAttr(starts),
                             AffineMapAttr::get(map), op.getStepsAttr());
}

// Windows of one element side by side are the tensor, with axes of 1.
static Value simplifyWindow(ir::WindowOp op, OpBuilder &builder) {
  auto isUnit = [](int64_t number) { return number == 1; };
  if (!llvm::all_of(op.getSizes(), isUnit) ||
      !llvm::all_of(op.getStrides(), isUnit))
    return {};
  return reshapeTo(op.getX(), op.getType(), numSymbolsOf(op), op.getLoc(),
                   builder);
}

// Nothing stands around or between the elements.
static Value simplifyPad(ir::PadOp op) {
  SmallVector<AffineExpr> dims = dimsOf(op.getX().getType());
  if (op.getX().getType() != op.getType())
    return {};
  for (auto [dim, low, between] :
       llvm::zip(dims, op.getLow(), op.getInterior()))
    if (low != 0 || (between != 0 && !isOne(dim)))
      return {};
  return op.getX();
}

// All of the axis, wherever it is to begin.
template <typename Op> static Value simplifyStart(Op op) {
  return op.getX().getType() == op.getType() ? op.getX() : Value();
}

static Value simplifyFlip(ir::FlipOp op) {
  SmallVector<AffineExpr> dims = dimsOf(op.getType());
  bool isAsBefore = llvm::all_of(
      op.getAxes(), [&](int64_t axis) { return isOne(dims[axis]); });
  return isAsBefore ? op.getX() : Value();
}

// Copies of one value along an axis of one element repeat it.
static Value simplifyConcat(ir::ConcatOp op, OpBuilder &builder) {
  Value first = op.getXs()[0];
  if (op.getXs().size() == 1)
    return first;
  bool repeats = isOne(dimsOf(first.getType())[op.getAxis()]) &&
                 llvm::all_equal(op.getXs());
  if (!repeats)
    return {};
  return ir::BroadcastOp::create(builder, op.getLoc(), op.getType(), first,
                                 shapeAttr(op.getType()));
}

Value simplifyView(Operation *op, OpBuilder &builder) {
  if (auto reshape = dyn_cast<ir::ReshapeOp>(op))
    return simplifyReshape(reshape, builder);
  if (auto broadcast = dyn_cast<ir::BroadcastOp>(op))
    return simplifyBroadcast(broadcast, builder);
  if (auto transpose = dyn_cast<ir::TransposeOp>(op))
    return simplifyTranspose(transpose, builder);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return simplifySlice(slice, builder);
  if (auto window = dyn_cast<ir::WindowOp>(op))
    return simplifyWindow(window, builder);
  if (auto pad = dyn_cast<ir::PadOp>(op))
    return simplifyPad(pad);
  if (auto slice = dyn_cast<ir::DynamicSliceOp>(op))
    return simplifyStart(slice);
  if (auto pad = dyn_cast<ir::DynamicPadOp>(op))
    return simplifyStart(pad);
  if (auto flip = dyn_cast<ir::FlipOp>(op))
    return simplifyFlip(flip);
  if (auto concat = dyn_cast<ir::ConcatOp>(op))
    return simplifyConcat(concat, builder);
  return {};
}

} // namespace sinter::compiler
