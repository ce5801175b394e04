/// LaneTables: numbers that differ from thread to thread, as arithmetic.
#pragma once

#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace sinter::compiler {

/// Emits values[thread] (i32), where `thread` (i32) is below their count, a
/// power of two of at most 64.
mlir::Value tableValue(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value thread, llvm::ArrayRef<int64_t> values);

/// Emits flags[thread] (i1); null where all are set.
mlir::Value tableFlag(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value thread, llvm::ArrayRef<bool> flags);

} // namespace sinter::compiler
