/// BlockMatrix: where matrices lie, as units for whole blocks take them.
#pragma once

#include "compiler/lower/Access.h"
#include "compiler/target/Target.h"

namespace sinter::compiler {

/// A view of that shape with its axes from neighbours on, the last two first,
/// then those of batches. Nothing where neither of the two has neighbours.
std::optional<BlockUnit::Matrix> matrixOf(const StridedView &view,
                                          const Shape &shape);
/// A dense tensor, likewise.
std::optional<BlockUnit::Matrix> denseMatrix(unsigned buffer,
                                             const Shape &shape);

} // namespace sinter::compiler
