/// MaskedLoads: vectors of which a thread reads all or nothing.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// Reads vectors whose mask is one condition for all elements at once, behind
/// that condition; a device would read each element behind its own.
void loadBehindConditions(mlir::func::FuncOp function);

} // namespace sinter::compiler
