/// Turns kernels into code in parallel, each one once.
#pragma once

#include "compiler/lower/EmitKernel.h"
#include "compiler/package/WriteProgram.h"
#include "compiler/target/Target.h"

#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// Emits every kernel of the module, on as many threads as there are cores and
/// kernels, each kernel in a context of its own. Code is kept in a cache of the
/// process, by canonical text and target, so a kernel that any program had
/// before costs nothing. The result does not depend on the threads.
Result<KernelCodes> compileKernels(mlir::ModuleOp module, const Target &target,
                                   const EmitOptions &options);

/// The dialects that text and modules of this compiler may hold.
const mlir::DialectRegistry &compilerDialects();

} // namespace sinter::compiler
