/// Powers, logarithms of other bases, angles and remainders as arithmetic.
#pragma once

#include "compiler/math/Elementary.h"

namespace sinter::compiler {

/// Whether `expandPowers` has an answer for the op.
bool isPower(mlir::Operation *op);
/// The value of math.exp2, expm1, log2, log10, log1p, atan, atan2, powf, erfc
/// and arith.remf; null for another op.
mlir::Value expandPowers(ElementMath &m, mlir::Operation *op);

/// Whether the op is math.floor, ceil, trunc or roundeven, and its value by
/// additions, for machines without an instruction for it.
bool isRounding(mlir::Operation *op);
mlir::Value expandRounding(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace sinter::compiler
