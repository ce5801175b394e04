/// Views between an image and its windows.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The source of a window or unwindow op; null for another op.
std::unique_ptr<ElementSource> makeWindowView(mlir::Value tensor);

/// `runsAlong` for these ops.
bool windowRunsAlong(mlir::Operation *op, unsigned dim);

} // namespace sinter::compiler
