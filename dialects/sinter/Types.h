/// Types and attributes of the dialect in the terms of recorded graphs: dtypes,
/// dims with expressions, encoded attribute words.
#pragma once

#include "sinter/runtime/DType.h"
#include "sinter/runtime/Dim.h"
#include "sinter/runtime/OpTable.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <span>

namespace sinter::ir {

/// The element type of a dtype; null for one that tensors do not have.
mlir::Type elementType(mlir::MLIRContext *context, DType dtype);
/// The type of a scalar that has an element: a signless integer, of a byte at
/// least, for all but bool and the floats that are computed with.
mlir::Type scalarType(mlir::Type element);
/// The dtype of an element type; nothing for types that are none of ours.
std::optional<DType> dtypeOf(mlir::Type element);

/// A tensor type's dims as expressions over symbols.
llvm::SmallVector<mlir::AffineExpr> dimsOf(mlir::RankedTensorType type);
/// The type with these dims; `numSymbols` is that of the enclosing program or
/// kernel and only matters when a dim is symbolic.
mlir::RankedTensorType tensorType(mlir::Type element,
                                  llvm::ArrayRef<mlir::AffineExpr> dims,
                                  unsigned numSymbols);
/// How many symbols the dims of a tensor type, and the maps of an op's types
/// and attributes, range over.
unsigned numSymbolsOf(mlir::Type tensorType);
unsigned numSymbolsOf(mlir::Operation *op);
/// Whether a dim is the number 1.
bool isOne(mlir::AffineExpr dim);

/// A dim as recorded ones are. Symbols get one sample value that many numbers
/// divide; it stands for no real extent.
Dim dimOf(mlir::AffineExpr expr);
/// One expression of a list; `operand` gives the operands, which come first.
mlir::AffineExpr
affineOf(mlir::MLIRContext *context, const Expr &expr,
         llvm::function_ref<mlir::AffineExpr(uint32_t)> operand);
/// Inverse of `dimOf`, for the expressions of dims that it made.
mlir::AffineExpr affineOf(mlir::MLIRContext *context, Dim dim);

/// The op's attributes as a node holds them, or a diagnostic.
llvm::FailureOr<llvm::SmallVector<uint64_t>> encodeAttrs(mlir::Operation *op);
/// Attributes from a node's words.
llvm::SmallVector<mlir::NamedAttribute>
decodeAttrs(mlir::MLIRContext *context, graph::OpId op,
            std::span<const uint64_t> words, unsigned numSymbols);

} // namespace sinter::ir
