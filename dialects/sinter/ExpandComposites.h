/// Composites in primitives, by the same decomposition that gradients use.
#pragma once

#include "mlir/IR/Operation.h"

namespace sinter::ir {

/// Replaces every composite under `root` by primitive ops at its location.
llvm::LogicalResult expandComposites(mlir::Operation *root);

} // namespace sinter::ir
