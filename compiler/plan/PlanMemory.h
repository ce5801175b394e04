/// Plan: the order of the launches, and a buffer for every value.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/LogicalResult.h"

namespace sinter::compiler {

/// Name of the module's attribute that lists pairs (input number, output
/// number) which may be the same memory.
inline constexpr const char *mayAliasAttr = "program.may_alias";

/// Kinds of buffers, as `program.buffer` says them.
namespace buffer_kinds {
inline constexpr const char *input = "input";
inline constexpr const char *output = "output";
inline constexpr const char *temp = "temp";
inline constexpr const char *moving = "moving";
} // namespace buffer_kinds

/// Moves the launches that an index error can depend on, and those they need,
/// to the front. Those that only make results come as soon as what they read is
/// there, but a launch that updates state runs after the last one that can set
/// the error word and after every other reader of the old state, and may
/// overwrite it.
void orderLaunches(mlir::func::FuncOp function);

/// Numbers the steps, gives every value a buffer with its size and the steps it
/// lives in, and lists the outputs that may take an input's memory: those that
/// are written elementwise from it, or after it was last read.
void planMemory(mlir::ModuleOp module);

/// The outputs (numbers) of a kernel that read this input at their own place in
/// memory only; empty when the input is read at any other place, too.
llvm::SmallVector<unsigned> elementwiseReaders(program::KernelOp kernel,
                                               unsigned input);

/// The value behind reshapes between kernels.
mlir::Value behindRenames(mlir::Value value);

} // namespace sinter::compiler
