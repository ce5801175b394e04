/// Functions for processors with vectors of 64 bytes.
#pragma once

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// The value of a math.exp, log, erf or rsqrt on f32 (scalars and vectors), the
/// same bits whatever the number of lanes; null for another op. With
/// `approximates` by fewer instructions, and that of a math.tanh or math.sqrt
/// too.
mlir::Value expandWide(mlir::OpBuilder &builder, mlir::Operation *op,
                       bool approximates);

} // namespace sinter::compiler
