/// What a kernel's code relies on, for who launches it.
#pragma once

#include "dialects/program/Program.h"

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <utility>

namespace sinter::compiler {

/// Over the kernel's symbols.
struct KernelNeeds {
  /// Bytes of each input, then of each output.
  llvm::SmallVector<mlir::AffineExpr> bufferBytes;
  /// Expressions that the ops' shape rules took for equal, and that views which
  /// begin where a launch says stay inside of what they view.
  llvm::SmallSetVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>, 4> equal;
};

/// Fails after a diagnostic where an op's shape rule refuses it.
llvm::FailureOr<KernelNeeds> needsOf(program::KernelOp kernel);

} // namespace sinter::compiler
