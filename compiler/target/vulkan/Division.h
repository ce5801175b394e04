/// Division of integers.
#pragma once

#include "mlir/Dialect/SPIRV/Transforms/SPIRVConversion.h"

namespace sinter::compiler {

/// x / d and the rest of it as products with a reciprocal, of integers that
/// become words of 64 bits (Granlund and Montgomery, "Division by invariant
/// integers using multiplication", PLDI 1994). NVIDIA's driver (580) makes of a
/// quotient of a quotient by a number, computed for two elements at once, the
/// first one's for both. What a division of signed integers leaves has the sign
/// of x, the least integer's too.
void addDivision(const mlir::SPIRVTypeConverter &converter,
                 mlir::RewritePatternSet &patterns);

} // namespace sinter::compiler
