/// SplitAtLoops: what of a block may be fused with each other, around loops.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::compiler {

/// Ops that no loop has to run between.
struct Segment {
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Operation *before; ///< the op after them: a loop or the terminator
};

/// Orders the block so that between its loops there is one segment each, and
/// what can run in several stands as late as it can. Views and sources that
/// another segment or a body reads are cloned there.
llvm::SmallVector<Segment> splitAtLoops(mlir::Block &block);

} // namespace sinter::compiler
