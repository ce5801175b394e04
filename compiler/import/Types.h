/// Sizes of tensor types, and a graph's dims as expressions.
#pragma once

#include "dialects/sinter/Types.h"
#include "sinter/runtime/Graph.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::compiler {

using ir::dtypeOf;
using ir::elementType;
using ir::isOne;
using ir::numSymbolsOf;
using ir::tensorType;

/// The dims of a tensor type as expressions over symbols.
llvm::SmallVector<mlir::AffineExpr> dimsOf(mlir::Type type);
/// Dims as an op's attribute holds them.
mlir::AffineMapAttr shapeAttr(mlir::MLIRContext *context,
                              llvm::ArrayRef<mlir::AffineExpr> dims,
                              unsigned numSymbols);
/// The dims of a tensor type as an op's attribute holds them.
mlir::AffineMapAttr shapeAttr(mlir::Type type);

/// Product of the dims.
mlir::AffineExpr elementCount(mlir::Type type);
/// Bytes of a dense buffer of that type.
mlir::AffineExpr byteCount(mlir::Type type);

/// A graph's dim expressions as affine expressions. Dims that a guard makes
/// equal become one expression; symbols that disappear so are not counted, and
/// those that stay are numbered anew by first appearance over the inputs.
class GraphDims {
public:
  GraphDims(mlir::MLIRContext *context, const graph::Graph &graph);

  mlir::AffineExpr operator[](uint32_t index) const { return exprs[index]; }
  unsigned numSymbols() const { return symbols; }
  /// One two-result map per guard that the inputs' dims do not imply.
  llvm::ArrayRef<mlir::AffineMap> guards() const { return guardMaps; }

private:
  void unifyGuarded(const graph::Graph &graph);
  void renumber(const graph::Graph &graph);

  mlir::MLIRContext *context;
  unsigned symbols = 0;
  llvm::SmallVector<mlir::AffineExpr> exprs;
  llvm::SmallVector<mlir::AffineMap> guardMaps;
};

} // namespace sinter::compiler
