/// Views: identities vanish, views of views become one.
#include "compiler/fuse/FusionGraph.h"
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Contraction.h"
#include "sinter/generated/classes/View.h"

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

// One repeated number stays one under any shape.
static Value simplifyReshape(Value view, Value operand, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(view.getType());
  unsigned symbols = numSymbolsOf(view.getDefiningOp());
  Location loc = view.getLoc();
  if (Value inner = ir::reshapedOperand(operand))
    return reshapeTo(inner, type, symbols, loc, builder);
  Value repeated = ir::repeatedOperand(operand);
  if (!repeated || !llvm::all_of(dimsOf(repeated.getType()), isOne))
    return {};
  Value number =
      reshapeTo(repeated, RankedTensorType::get({}, type.getElementType()),
                symbols, loc, builder);
  return ir::BroadcastOp::create(
      builder, loc, type, number,
      shapeAttr(type.getContext(), dimsOf(type), symbols));
}

static Value simplifyRepeat(Value view, Value operand, OpBuilder &builder) {
  Type type = view.getType();
  Location loc = view.getLoc();
  AffineMapAttr shape = shapeAttr(type.getContext(), dimsOf(type),
                                  numSymbolsOf(view.getDefiningOp()));
  // Only ones are added: no element is repeated.
  if (elementCount(operand.getType()) == elementCount(type))
    return ir::ReshapeOp::create(builder, loc, type, operand, shape);
  if (Value inner = ir::repeatedOperand(operand))
    return ir::BroadcastOp::create(builder, loc, type, inner, shape);
  return {};
}

// With one row or column the exchange is a reshape.
Value exchangedOperand(Value value) {
  if (cast<RankedTensorType>(value.getType()).getRank() < 2)
    return {};
  auto dims = dimsOf(value.getType());
  size_t rank = dims.size();
  if (auto permuted = ir::permutedOperand(value)) {
    ArrayRef<int64_t> axes = permuted->permutation;
    for (size_t i = 0; i < rank; ++i)
      if (axes[i] != int64_t(i + 2 < rank ? i : 2 * rank - 3 - i))
        return {};
    return permuted->operand;
  }
  Value before = ir::reshapedOperand(value);
  if (!before || (!isOne(dims[rank - 1]) && !isOne(dims[rank - 2])))
    return {};
  std::swap(dims[rank - 1], dims[rank - 2]);
  return dimsOf(before.getType()) == dims ? before : Value();
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
static Value transposeOperands(Value view, const ir::Permuted &permuted,
                               OpBuilder &builder) {
  auto product = ir::matrixProductOf(permuted.operand);
  if (!product || !product->hasOneUse())
    return {};
  ArrayRef<int64_t> permutation = permuted.permutation;
  int64_t rank = permutation.size();
  for (int64_t axis = 0; axis < rank; ++axis) {
    int64_t swapped = axis < rank - 2 ? axis : 2 * rank - 3 - axis;
    if (permutation[axis] != swapped)
      return {};
  }
  Value lhs = exchanged(product.getRhs(), view.getLoc(), builder);
  Value rhs = exchanged(product.getLhs(), view.getLoc(), builder);
  Location loc = mergeLocations(product.getLoc(), view.getLoc());
  return ir::MatmulOp::create(builder, loc, view.getType(), lhs, rhs);
}

static Value simplifyTranspose(Value view, const ir::Permuted &permuted,
                               OpBuilder &builder) {
  Operation *op = view.getDefiningOp();
  ArrayRef<int64_t> permutation = permuted.permutation;
  if (auto inner = ir::permutedOperand(permuted.operand)) {
    SmallVector<int64_t> composed;
    for (int64_t axis : permutation)
      composed.push_back(inner->permutation[axis]);
    auto both = ir::TransposeOp::create(builder, op->getLoc(), view.getType(),
                                        inner->operand,
                                        builder.getDenseI64ArrayAttr(composed));
    if (op->hasAttr(storedAttr) ||
        permuted.operand.getDefiningOp()->hasAttr(storedAttr))
      both->setAttr(storedAttr, builder.getUnitAttr());
    return both;
  }
  // Axes longer than one keep their order: the elements stay where they are.
  SmallVector<AffineExpr> dims = dimsOf(permuted.operand.getType());
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (isOne(dims[axis]))
      continue;
    if (axis < last)
      return transposeOperands(view, permuted, builder);
    last = axis;
  }
  return reshapeTo(permuted.operand, view.getType(), numSymbolsOf(op),
                   op->getLoc(), builder);
}

static Value simplifySlice(ir::SliceOp op, OpBuilder &builder) {
  auto isUnit = [](int64_t step) { return step == 1; };
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
static Value simplifyWindows(Value view, const ir::ViewMap &map,
                             OpBuilder &builder) {
  auto isUnit = [](const ir::ViewWindow &window) {
    return window.size == 1 && window.stride == 1;
  };
  if (!llvm::all_of(map.windows(), isUnit))
    return {};
  return reshapeTo(map.part().operand, view.getType(),
                   numSymbolsOf(view.getDefiningOp()), view.getLoc(), builder);
}

// Copies of one value along an axis of one element repeat it.
static Value simplifyJoin(Value view, const ir::ViewMap &map,
                          OpBuilder &builder) {
  Value first = map.part().operand;
  bool repeats = isOne(map.part().axes[*map.joins()].extent) &&
                 llvm::all_of(map.parts, [&](const ir::ViewPart &part) {
                   return part.operand == first;
                 });
  if (!repeats)
    return {};
  return ir::BroadcastOp::create(builder, view.getLoc(), view.getType(), first,
                                 shapeAttr(view.getType()));
}

// Whether a view is the tensor that it is of. One element has none beside it,
// however far apart they would stand.
static bool isIdentity(Value view, const ir::ViewMap &map) {
  if (map.parts.size() > 1 || map.part().operand.getType() != view.getType())
    return false;
  if (map.keepsLinearOrder)
    return true;
  return map.keepsAxes() &&
         llvm::all_of(llvm::enumerate(map.part().axes), [&](auto each) {
           ir::AxisMap axis = each.value();
           axis.isMasked &= axis.spacing == 1 || !isOne(axis.extent);
           return map.passes(axis, unsigned(each.index()));
         });
}

Value simplifyView(Operation *op, OpBuilder &builder) {
  auto map = ir::viewMapOf(op);
  if (!map)
    return {};
  Value view = op->getResult(0), operand = map->part().operand;
  if (isIdentity(view, *map))
    return operand;
  if (map->keepsLinearOrder)
    return simplifyReshape(view, operand, builder);
  if (auto permutation = map->permutation())
    return simplifyTranspose(view, {operand, *permutation}, builder);
  if (map->repeats())
    return simplifyRepeat(view, operand, builder);
  if (map->takesWindows())
    return simplifyWindows(view, *map, builder);
  if (map->joins())
    return simplifyJoin(view, *map, builder);
  if (auto slice = dyn_cast<ir::SliceOp>(op))
    return simplifySlice(slice, builder);
  return {};
}

} // namespace sinter::compiler
