/// The larger and the smaller of two floats as arithmetic.
#pragma once

#include "compiler/math/ExpandMath.h"

#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// The value of an arith.maximumf or minimumf on f32 or f64 (scalars and
/// vectors); null for other types. +0 is above -0, and NaN is the canonical
/// one, or the operand's where `passesNan` says so. Of an op marked `nnan` any
/// value will do where an operand is NaN.
mlir::Value expandExtremum(mlir::OpBuilder &builder, mlir::Operation *op,
                           const MathFeatures &features);

} // namespace sinter::compiler
