/// Composites in primitives, by the same decomposition that gradients use.
#pragma once

#include "mlir/IR/Operation.h"

namespace sinter::ir {

/// Replaces every composite under `root` by primitive ops at its location; with
/// `keepImages`, not those over images. `after` stays: it is no arithmetic, but
/// tells fusion an order.
llvm::LogicalResult expandComposites(mlir::Operation *root,
                                     bool keepImages = false);

} // namespace sinter::ir
