/// SharedMemory: arrays that a block's threads share.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace sinter::compiler {

inline constexpr unsigned sharedSpace = 3;

/// Bytes of shared memory that a block may declare; more are asked for by the
/// launch, which the block then has alone or with few others.
inline constexpr int64_t declaredBytes = 48 * 1024;

/// The array of a kernel's blocks, of which there is one: declared, or, where
/// it is larger than what a block may declare, asked for by the launch.
mlir::LLVM::GlobalOp declareShared(mlir::func::FuncOp function, int64_t bytes,
                                   int64_t alignment);

} // namespace sinter::compiler
