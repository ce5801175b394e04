/// The arithmetic of contractions.
#pragma once

#include "compiler/lower/element/Emission.h"
#include "dialects/sinter/Dialect.h"

namespace sinter::compiler {

/// What products of an element type are summed in: f32 for the 16-bit floats,
/// the type itself otherwise.
mlir::Type accumulatorType(mlir::Type element);
mlir::Value toAccumulator(Emission &emission, mlir::Value value,
                          mlir::Type element);
/// The operands' elements as what a contraction sums in.
mlir::Value toSumType(Emission &emission, mlir::Value value, mlir::Type sum);
mlir::Value fromAccumulator(Emission &emission, mlir::Value value,
                            mlir::Type element);
/// a * b + sum; one rounding where the target has it.
mlir::Value multiplyAdd(Emission &emission, mlir::Value a, mlir::Value b,
                        mlir::Value sum);
/// The coordinates in a tensor with this map at a point of the loops.
llvm::SmallVector<Coord> coordinatesAt(mlir::AffineMap map,
                                       llvm::ArrayRef<Coord> loops);
/// The coordinates of all dims of `shape` but the last two, which count
/// matrices, of matrix number `batch`.
llvm::SmallVector<Coord>
batchCoordinates(Emission &emission, const Shape &shape, mlir::Value batch);

} // namespace sinter::compiler
