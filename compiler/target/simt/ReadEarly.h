/// Loads that wait for memory at the same time.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// Moves loads to the first of their block, some at a time, so that
/// a group of threads waits for all of them at once. Only those move whose
/// buffer comes with the kernel's arguments and is not written by it: what a
/// kernel reads is what was there before it began, also where a result takes
/// an input's place, so earlier is never wrong. Past loops and branches none
/// moves.
void readEarly(mlir::func::FuncOp function);

} // namespace sinter::compiler
