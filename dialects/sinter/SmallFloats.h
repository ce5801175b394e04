/// Stored floats, which are bytes in scalar bodies, to numbers and back.
#pragma once

#include "mlir/IR/Builders.h"

namespace sinter::ir {

/// Whether elements are floats that nothing computes with.
bool isStoredFloat(mlir::Type element);

/// The f32 of each code of a stored float, a scalar or a vector of i8: exact.
/// It is arithmetic on the bits, so every target has it.
mlir::Value emitDecoding(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, mlir::Value codes);
/// The codes that toSmallFloat gives of f32s.
mlir::Value emitEncoding(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type element, mlir::Value numbers);

} // namespace sinter::ir
