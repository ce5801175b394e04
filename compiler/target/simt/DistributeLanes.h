/// From vectors to threads: what is written for the lanes of a vector runs on
/// the threads of a group.
#pragma once

#include "compiler/target/simt/ThreadGroup.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace sinter::compiler {

/// Buffers from the argument block that nothing of the kernel reads.
llvm::DenseSet<mlir::Value> writtenOnly(mlir::func::FuncOp function);

/// Rewrites a kernel function, in which a vector holds what lanes have, for a
/// group of threads that all run it. A vector of n lanes lies in
/// - n / size elements of each thread, neighbours, where n >= size;
/// - one element of each thread, where n is smaller: thread t has lane t mod n.
/// Scalars are the same in all threads, and so is control flow; what is stored
/// as a scalar is stored by one thread. Memory of the frame must have been
/// replaced by memory that the group shares. `written` are buffers that the
/// kernel only writes: nobody waits for what is stored there.
/// Memory of a space of its own is what threads share beyond the group: each
/// moves there what it has, as it is written.
/// Fails with a diagnostic at an op that it does not know.
mlir::LogicalResult
distributeLanes(mlir::func::FuncOp function, const ThreadGroup &group,
                llvm::function_ref<bool(mlir::Value)> isOnlyWritten);

/// Fails with a diagnostic where a kernel whose threads each have vectors of
/// their own has a frame.
mlir::LogicalResult checkFrameless(mlir::func::FuncOp function);

} // namespace sinter::compiler
