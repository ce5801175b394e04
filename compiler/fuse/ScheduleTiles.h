/// ScheduleTiles: choices of tiles become part of kernels' schedules.
#pragma once

#include "compiler/Compiler.h"
#include "dialects/program/Program.h"

#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// Adds a tile to the schedule of a kernel, which keeps its name: that is of
/// what the kernel computes.
void setTile(program::KernelOp kernel, llvm::StringRef tile);

/// Does so for each choice, after kernels were formed. An error of kind
/// `invalid_argument` when a choice names no kernel of the module.
Status scheduleTiles(mlir::ModuleOp module,
                     const std::vector<TileChoice> &choices);

} // namespace sinter::compiler
