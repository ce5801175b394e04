/// The compiler's passes: constructors and registration, generated from
/// Passes.td.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

#include <memory>

namespace sinter::compiler {

#define GEN_PASS_DECL
#include "sinter/generated/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "sinter/generated/Passes.h.inc"

/// The program's function.
inline mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("main");
}

} // namespace sinter::compiler
