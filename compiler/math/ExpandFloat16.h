/// Conversions between f32 and the 16-bit floats as bit arithmetic.
#pragma once

#include "compiler/math/ExpandMath.h"

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// The replacement of an arith.extf from, or arith.truncf to, f16 or bf16; null
/// when the machine does it or another type is meant.
mlir::Value expandFloat16(mlir::OpBuilder &builder, mlir::Operation *op,
                          const MathFeatures &features);

/// Gives every f16 and bf16 value the type i16, conversions of the machine's
/// own aside: code generation calls a library for other moves of them.
void holdFloat16AsBits(mlir::ModuleOp module);

} // namespace sinter::compiler
