/// sin and cos as arithmetic, for every input.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// The value of a math.sin or math.cos on f32 or f64 (scalars and vectors).
/// `fma` says that the machine rounds a * b + c once. Where x is large there
/// remains an op of the same kind, marked for `callFarTrig`.
mlir::Value expandTrig(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

struct FarOptions {
  bool fma = false;
  /// Lanes of a vector are done one after the other, with less code.
  bool oneByOne = false;
};

/// Calls functions of the module for what `expandTrig` left: private ones, one
/// for each function and type. False where nothing was.
bool callFarTrig(mlir::ModuleOp module, const FarOptions &options);

} // namespace sinter::compiler
