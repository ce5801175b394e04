/// The LLVM dialect, from which targets make LLVM IR.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace mlir {
class OpPassManager;
} // namespace mlir
namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace sinter::compiler {

/// Rewrites vector, scf, arith, math and memref to the LLVM dialect, by passes
/// that `run` runs on the module.
llvm::LogicalResult convertToLlvm(
    mlir::ModuleOp module,
    llvm::function_ref<llvm::LogicalResult(mlir::OpPassManager &)> run);

/// Says how the machine lays types out before loads and stores get what
/// alignment their types have: by LLVM's own layout i64 has that of i32.
void setDataLayout(mlir::ModuleOp module, const llvm::TargetMachine &machine);

/// Functions of the module's own are for what is rare: they stay functions, and
/// what is around their calls is made for the way without them.
void keepCalls(llvm::Module &module);

/// Loads the dialects and translations that `convertToLlvm`, and who makes LLVM
/// IR of what it gives, use.
void loadLlvmDialects(mlir::MLIRContext &context);

} // namespace sinter::compiler
