/// Functions for processors with vectors of 64 bytes.
#pragma once

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// The value of a math.exp or math.erf on f32 (scalars and vectors), the same
/// bits whatever the number of lanes; null for another op.
mlir::Value expandWide(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace sinter::compiler
