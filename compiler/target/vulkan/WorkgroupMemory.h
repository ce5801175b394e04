/// WorkgroupMemory: the frames of a workgroup's subgroups.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// The attribute of a function: threads of a workgroup.
inline constexpr const char *threadsAttr = "sinter.threads";

/// Puts the frame of a kernel function (memref.alloca), of which each subgroup
/// has one, into memory of a workgroup, which has as many subgroups as its
/// `sharedBytes` suffice for, up to 128 threads; says how many threads that
/// are; one where its threads wait for all of a workgroup. Fails with a
/// diagnostic where one frame is too large. Comes after `distributeLanes`.
mlir::LogicalResult placeFrames(mlir::func::FuncOp function,
                                unsigned subgroupThreads, int64_t sharedBytes,
                                bool waitsTogether);

} // namespace sinter::compiler
