/// What a launch moves and computes, as expressions: for reports and counters.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/IR/AffineExpr.h"

namespace sinter::compiler {

/// Over the program's symbols.
struct LaunchTraffic {
  mlir::AffineExpr bytesRead;
  mlir::AffineExpr bytesWritten;
  mlir::AffineExpr flops;
};

/// Each input counts once, with the elements that the kernel reads of it: all,
/// or those of the views through which it reads when they are fewer.
LaunchTraffic trafficOf(program::KernelOp kernel, program::LaunchOp launch);

} // namespace sinter::compiler
