/// Approximations, for the numerics mode `fast`.
#pragma once

#include "compiler/math/WideMath.h"

namespace sinter::compiler {

// docs/numerics.md says how far they are off.
mlir::Value fastErf(WideMath &m, mlir::Value x);
mlir::Value fastTanh(WideMath &m, mlir::Value x);
mlir::Value fastRoot(WideMath &m, mlir::Value x);

} // namespace sinter::compiler
