/// WideIntegers: integers of 64 bits on devices that have none.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// Rewrites a function of scalars: an i64 becomes a vector of two words of 32
/// bits, the lower one first, in memory as well. Fails with a diagnostic that
/// names what is done with i64 that words are not used for. Comes after
/// `splitVectors`.
mlir::LogicalResult emulateWideIntegers(mlir::func::FuncOp function);

} // namespace sinter::compiler
