/// Sources that compute: gathers, random numbers, reductions, contractions.
#pragma once

#include "compiler/lower/element/ElementSource.h"

namespace sinter::compiler {

/// Each is null for an op of another kind.
std::unique_ptr<ElementSource> makeInlineSource(mlir::Value tensor);
std::unique_ptr<ElementSource> makeGather(mlir::Value tensor);
std::unique_ptr<ElementSource> makeRandom(mlir::Value tensor);
std::unique_ptr<ElementSource> makeReduction(mlir::Value tensor);
std::unique_ptr<ElementSource> makeContraction(mlir::Value tensor);

/// The coordinates in [0, extent) that the positions of `op`, a gather or
/// scatter, hold at `index`. Where they have not been checked before, they are
/// clamped, and what is out of range is reported. On processors they are
/// clamped also where another kernel has checked them.
Coord readPositions(Emission &emission, mlir::Operation *op,
                    mlir::Value indices, const Index &index, const Lanes &lanes,
                    mlir::AffineExpr extent);

/// Whether an axis has an element to clamp to: an i1, null where it has.
mlir::Value isNotEmpty(Emission &emission, mlir::AffineExpr extent);

} // namespace sinter::compiler
