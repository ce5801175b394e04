/// Turns kernels into code in parallel, each one once.
#pragma once

#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/package/WriteProgram.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// Emits every kernel of the module, on as many threads as there are cores and
/// kernels, each kernel in a context of its own, unless the KernelCache has its
/// code. The result depends neither on the threads nor on the cache.
Result<KernelCodes> compileKernels(mlir::ModuleOp module, const Target &target,
                                   const EmitOptions &options);

/// The dialects that text and modules of this compiler may hold.
const mlir::DialectRegistry &compilerDialects();

} // namespace sinter::compiler
