/// A product whose right operand is the same in every batch is one product with
/// more rows.
#include "compiler/import/Types.h"
#include "compiler/simplify/SimplifyOps.h"
#include "dialects/sinter/Dialect.h"

using namespace mlir;

namespace sinter::compiler {

static bool isOne(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == 1;
}

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

static unsigned numSymbols(ir::MatmulOp product) {
  for (Value value :
       {product.getLhs(), product.getRhs(), product.getResult()}) {
    Attribute encoding = cast<RankedTensorType>(value.getType()).getEncoding();
    if (auto map = dyn_cast_or_null<AffineMapAttr>(encoding))
      return map.getValue().getNumSymbols();
  }
  return 0;
}

// `value` as a matrix of these dims.
static Value asMatrix(Value value, ArrayRef<AffineExpr> dims, unsigned symbols,
                      Location loc, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(value.getType());
  Type matrix = tensorType(type.getElementType(), dims, symbols);
  if (matrix == type)
    return value;
  auto shape = AffineMapAttr::get(
      AffineMap::get(0, symbols, dims, builder.getContext()));
  return ir::ReshapeOp::create(builder, loc, matrix, value, shape);
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
  unsigned symbols = numSymbols(product);
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
  auto shape =
      AffineMapAttr::get(AffineMap::get(0, symbols, dims, op->getContext()));
  return ir::ReshapeOp::create(builder, loc, type, flat, shape);
}

} // namespace sinter::compiler
