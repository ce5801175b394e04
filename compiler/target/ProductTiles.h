/// ProductTiles: how many tiles a product has, for units that choose by that.
#pragma once

#include "compiler/target/Target.h"

#include "llvm/Support/MathExtras.h"

namespace sinter::compiler {

/// What to count with where rows, columns or k are not known.
inline constexpr int64_t manyRows = 4096;

inline int64_t sizeOr(int64_t size, int64_t otherwise) {
  return size < 0 ? otherwise : size;
}

/// `otherwise` too for none.
inline int64_t constantOr(mlir::AffineExpr expr, int64_t otherwise) {
  auto number = llvm::dyn_cast_if_present<mlir::AffineConstantExpr>(expr);
  return number ? number.getValue() : otherwise;
}

/// Tiles of so many rows and columns, in all batches, with k in `parts`.
inline int64_t tilesOf(const BlockUnit::Product &product, int64_t rows,
                       int64_t columns, int64_t parts) {
  auto along = [](int64_t size, int64_t tile) {
    return int64_t(llvm::divideCeil(sizeOr(size, manyRows), tile));
  };
  return sizeOr(product.batches, 1) * parts * along(product.rows, rows) *
         along(product.columns, columns);
}

} // namespace sinter::compiler
