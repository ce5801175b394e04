/// OpsBehind: what values are made by.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace sinter::compiler {

/// The ops that the values are made by, and those that these read, and so on.
llvm::SmallSetVector<mlir::Operation *, 16> opsBehind(mlir::ValueRange values);

/// What a value is computed from element by element, each value once: none is
/// the result of a pointwise op. The value itself where it is none, either.
llvm::SmallVector<mlir::Value> behindArithmetic(mlir::Value value);

/// Whether the op computes its elements; views, gathers and sources give
/// elements as they find them.
bool isArithmetic(mlir::Operation *op);

} // namespace sinter::compiler
