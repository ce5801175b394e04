/// A product whose right operand is the same in every batch is one product with
/// more rows.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

// What `value` repeats along all axes but the last two, or null.
static Value repeatedMatrix(Value value) {
  auto broadcast = value.getDefiningOp<ir::BroadcastOp>();
  if (!broadcast)
    return {};
  SmallVector<AffineExpr> from = dimsOf(broadcast.getX().getType());
  SmallVector<AffineExpr> to = dimsOf(broadcast.getType());
  if (from.size() < 2 ||
      ArrayRef(from).take_back(2) != ArrayRef(to).take_back(2) ||
      !llvm::all_of(ArrayRef(from).drop_back(2), isOne))
    return {};
  return broadcast.getX();
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

Value collapseBatches(Operation *op, OpBuilder &builder) {
  auto product = dyn_cast<ir::MatmulOp>(op);
  if (!product || product.getLhs().getDefiningOp<ir::TransposeOp>())
    return {};
  Value matrix = repeatedMatrix(product.getRhs());
  if (!matrix)
    return {};
  RankedTensorType type = product.getType();
  SmallVector<AffineExpr> dims = dimsOf(type);
  unsigned symbols = numSymbolsOf(op);
  AffineExpr rows = builder.getAffineConstantExpr(1);
  for (AffineExpr dim : ArrayRef(dims).drop_back(1))
    rows = rows * dim;
  AffineExpr depth = dimsOf(product.getLhs().getType()).back();
  Location loc = op->getLoc();
  Value lhs = asMatrix(product.getLhs(), {rows, depth}, symbols, loc, builder);
  Value rhs = asMatrix(matrix, {depth, dims.back()}, symbols, loc, builder);
  Value flat = ir::MatmulOp::create(
      builder, loc,
      tensorType(type.getElementType(), {rows, dims.back()}, symbols), lhs,
      rhs);
  return ir::ReshapeOp::create(builder, loc, type, flat,
                               shapeAttr(op->getContext(), dims, symbols));
}

} // namespace sinter::compiler
