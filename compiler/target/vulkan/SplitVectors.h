/// SplitVectors: what a thread has of vectors as scalars.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// The attribute of ops on vectors that stay: loads and stores of neighbours in
/// buffers, at most four of them and 16 bytes, and what takes such a vector
/// apart or makes one.
inline constexpr const char *wholeAttr = "sinter.whole";

/// Rewrites a function whose vectors are those of one thread (what
/// `distributeLanes` leaves) to scalars. Drivers do so in any case; SPIR-V has
/// no vectors of more than four. Memory of a workgroup is read one by one, or,
/// where a second dimension makes groups of it, by whole groups. Elements of
/// more than `widest` bits are loaded and stored one by one.
mlir::LogicalResult splitVectors(mlir::func::FuncOp function, unsigned widest);

} // namespace sinter::compiler
