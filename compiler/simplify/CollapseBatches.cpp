/// A product whose right operand is the same in every batch is one product with
/// more rows; the sum of all batches' products is one with a longer depth.
#include "compiler/import/Locations.h"
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"
#include "dialects/sinter/ViewMap.h"
#include "sinter/generated/classes/Contraction.h"
#include "sinter/generated/classes/Reduce.h"
#include "sinter/generated/classes/View.h"

using namespace mlir;

namespace sinter::compiler {

// What `value` repeats along all axes but the last two, or null.
static Value repeatedMatrix(Value value, OpBuilder &builder) {
  if (Value before = exchangedOperand(value)) {
    Value matrix = repeatedMatrix(before, builder);
    return matrix ? exchanged(matrix, value.getLoc(), builder) : Value();
  }
  Value repeated = ir::repeatedOperand(value);
  if (!repeated)
    return {};
  SmallVector<AffineExpr> from = dimsOf(repeated.getType());
  SmallVector<AffineExpr> to = dimsOf(value.getType());
  if (from.size() < 2 ||
      ArrayRef(from).take_back(2) != ArrayRef(to).take_back(2) ||
      !llvm::all_of(ArrayRef(from).drop_back(2), isOne))
    return {};
  return repeated;
}

// `value` as a matrix of these dims.
static Value asMatrix(Value value, ArrayRef<AffineExpr> dims, unsigned symbols,
                      Location loc, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(value.getType());
  Type matrix = tensorType(type.getElementType(), dims, symbols);
  if (matrix == type)
    return value;
  return ir::ReshapeOp::create(builder, loc, matrix, value,
                               shapeAttr(builder.getContext(), dims, symbols));
}

static Value productOfAllRows(ir::ContractionOpInterface product,
                              OpBuilder &builder) {
  if (ir::permutedOperand(product.getLhs()))
    return {};
  Value matrix = repeatedMatrix(product.getRhs(), builder);
  if (!matrix)
    return {};
  RankedTensorType type = product.getResult().getType();
  SmallVector<AffineExpr> dims = dimsOf(type);
  unsigned symbols = numSymbolsOf(product);
  AffineExpr rows = builder.getAffineConstantExpr(1);
  for (AffineExpr dim : ArrayRef(dims).drop_back(1))
    rows = rows * dim;
  AffineExpr depth = dimsOf(product.getLhs().getType()).back();
  Location loc = product.getLoc();
  Value lhs = asMatrix(product.getLhs(), {rows, depth}, symbols, loc, builder);
  Value rhs = asMatrix(matrix, {depth, dims.back()}, symbols, loc, builder);
  Value flat = ir::MatmulOp::create(
      builder, loc,
      tensorType(type.getElementType(), {rows, dims.back()}, symbols), lhs,
      rhs);
  return ir::ReshapeOp::create(builder, loc, type, flat,
                               shapeAttr(builder.getContext(), dims, symbols));
}

// The gradient of a matrix that all batches share: of [batches, k, m] and
// [batches, k, n], with the first one exchanged, [m, n].
static Value productOfAllDepths(ir::SumOp sum, OpBuilder &builder) {
  auto product = ir::matrixProductOf(sum.getX());
  Value left = product ? exchangedOperand(product.getLhs()) : Value();
  if (!left || !product->hasOneUse() || sum.getKeepdims() ||
      getElementTypeOrSelf(product.getResult().getType()) !=
          sum.getType().getElementType())
    return {};
  SmallVector<AffineExpr> dims = dimsOf(product.getResult().getType());
  size_t batches = dims.size() - 2;
  ArrayRef<int64_t> axes = sum.getAxes();
  if (batches == 0 || axes.size() != batches)
    return {};
  for (auto [position, axis] : llvm::enumerate(axes))
    if (axis != int64_t(position))
      return {};
  AffineExpr depth = dimsOf(left.getType())[batches];
  for (AffineExpr dim : ArrayRef(dims).take_front(batches))
    depth = depth * dim;
  unsigned symbols = numSymbolsOf(product);
  Location loc = mergeLocations(product.getLoc(), sum.getLoc());
  Value lhs = asMatrix(left, {depth, dims[batches]}, symbols, loc, builder);
  Value rhs =
      asMatrix(product.getRhs(), {depth, dims.back()}, symbols, loc, builder);
  return ir::MatmulOp::create(builder, loc, sum.getType(),
                              exchanged(lhs, loc, builder), rhs);
}

Value collapseBatches(Operation *op, OpBuilder &builder, bool exact) {
  if (auto product = ir::matrixProductOf(op))
    return productOfAllRows(product, builder);
  // A product for each batch rounds before the sum does.
  auto sum = dyn_cast<ir::SumOp>(op);
  return sum && !exact ? productOfAllDepths(sum, builder) : Value();
}

} // namespace sinter::compiler
