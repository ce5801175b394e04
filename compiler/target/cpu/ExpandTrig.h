/// sin and cos as arithmetic, for every input.
#pragma once

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// The value of a math.sin or math.cos on f32 or f64 (scalars and vectors).
/// `fma` says that the machine rounds a * b + c once.
mlir::Value expandTrig(mlir::OpBuilder &builder, mlir::Operation *op, bool fma);

} // namespace sinter::compiler
