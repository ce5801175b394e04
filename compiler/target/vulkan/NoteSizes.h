/// NoteSizes: sizes that a launch compares with what indices reach into.
#pragma once

#include "mlir/IR/AffineMap.h"

#include <string>

namespace sinter::compiler {

/// Sizes that are functions of a launch's dims, as `runtime::largestSize` takes
/// them behind its keyword.
std::string sizesText(mlir::AffineMap sizes);

} // namespace sinter::compiler
