/// Transcendental functions and 16-bit float conversions as arithmetic.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace sinter::compiler {

/// Replaces math.exp, log, tanh, erf and rsqrt on f32 and f64, and conversions
/// to and from f16 and bf16, by arith ops (scalars and vectors), so that no
/// library is called. `nativeF16`: the machine converts f16 itself.
void expandMath(mlir::ModuleOp module, bool nativeF16);

} // namespace sinter::compiler
