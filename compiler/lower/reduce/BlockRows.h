/// Rows that a block of threads works on together: which kernels.
#pragma once

#include "mlir/IR/Operation.h"

#include <cstdint>

namespace sinter::compiler {

/// Whether a block works on rows of so many elements, where the target has
/// BlockThreads.
bool isRowOfBlock(int64_t length);

/// Reductions of columns that such a kernel may have.
inline constexpr unsigned mostColumnResults = 4;

/// Whether the op may be in a kernel of such rows: each element is made of
/// those at its own place, or is a number of its row; reductions take numbers
/// in f32.
bool joinsBlockRows(mlir::Operation *op);

} // namespace sinter::compiler
