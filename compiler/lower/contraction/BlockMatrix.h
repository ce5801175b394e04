/// BlockMatrix: where matrices lie, as units for whole blocks take them.
#pragma once

#include "compiler/analysis/Access.h"
#include "compiler/target/Target.h"

namespace sinter::compiler {

/// A view of that shape with its axes from neighbours on, the last two first,
/// then those of batches. Nothing where neither of the two has neighbours.
std::optional<BlockUnit::Matrix> matrixOf(const StridedView &view,
                                          const Shape &shape);
/// What lies under windows over an image, where `operand` is a matrix of that.
/// Either axis may count the windows; `depth` is the one that is k. `leaf` and
/// `pitch` are as for `stridedView`.
std::optional<BlockUnit::Matrix> windowsOf(mlir::Value operand, unsigned depth,
                                           mlir::Value leaf,
                                           mlir::AffineExpr pitch = {});
/// A dense tensor, likewise.
std::optional<BlockUnit::Matrix> denseMatrix(unsigned buffer,
                                             const Shape &shape);

} // namespace sinter::compiler
