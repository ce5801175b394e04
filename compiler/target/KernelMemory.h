/// What targets whose kernels are LLVM functions share: fields of the argument
/// block, buffers, the error word.
#pragma once

#include "compiler/target/Target.h"

namespace sinter::compiler {

/// The value of `type` at byte `offset` from `base`.
mlir::Value loadField(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value base, int64_t offset, mlir::Type type);

/// A rank-1 memref over the memory at `pointer`. Its size is never read.
mlir::Value viewAsMemRef(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value pointer, mlir::Type element);

/// The address of the kernel's buffer of that number (an index).
mlir::Value addressAt(mlir::OpBuilder &builder, mlir::Location loc,
                      const KernelEntry &entry, mlir::Value number);

/// Lowers the error word to that of `index` (i64) in this launch.
void lowerErrorWord(mlir::OpBuilder &builder, mlir::Location loc,
                    const KernelEntry &entry, mlir::Value index);

/// A function of a module with the return that its body ends with; the builder
/// is left before it.
mlir::Block *beginFunction(mlir::OpBuilder &builder, mlir::ModuleOp module,
                           llvm::StringRef symbol, mlir::TypeRange arguments,
                           KernelEntry &entry);

} // namespace sinter::compiler
