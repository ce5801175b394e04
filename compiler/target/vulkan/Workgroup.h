/// Workgroup: a workgroup's threads for rows and tiles that they work on
/// together, and what the argument block says of a launch.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/vulkan/VulkanProfile.h"

namespace sinter::compiler {

/// Threads of workgroups that such a device runs.
std::unique_ptr<const BlockThreads> makeWorkgroup(const VulkanProfile &profile);

/// Memory at an address (i64). Its size is never read.
mlir::Value memoryAt(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value address, mlir::Type element);

/// A word (i64) of the argument block, which a kernel function has as an
/// address or, where there is no i64, as memory.
mlir::Value argumentWord(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Operation *function, int64_t number);

/// Which one of the launch's workgroups it is, of which a row is as long as the
/// device allows (index).
mlir::Value workgroupNumber(mlir::OpBuilder &builder, mlir::Location loc);

/// An array of a kernel function's workgroups; where it has two dimensions, the
/// second is that of vectors.
mlir::Value workgroupMemory(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Operation *function,
                            llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// Begins a kernel whose workgroups have so many threads, in subgroups of
/// `subgroup`. The last row of workgroups may be longer than what there is to
/// do: what is emitted behind it is what those with some do.
void enterWorkgroup(mlir::OpBuilder &builder, mlir::Location loc,
                    const KernelEntry &entry, int64_t threads,
                    int64_t subgroup);

} // namespace sinter::compiler
