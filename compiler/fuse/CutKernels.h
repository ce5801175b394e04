/// CutKernels: what is too much for one kernel is stored in the middle.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// The graph of `ops`, which stand in the order of their block, cut so that a
/// kernel of one op, with what it inlines, is within the caps and writes
/// nothing out too often (see CopiedStorer). Values in the middle are stored,
/// and what joins too many operands joins parts of them, that are stored: those
/// new ops are added to `ops`. Nothing changes where the caps are kept. An op
/// that exceeds them by itself is left as it is. What is done leaves a
/// decision.
FusionGraph cutToCaps(llvm::SmallVectorImpl<mlir::Operation *> &ops,
                      const FuseOptions &options,
                      std::vector<FusionDecision> &decisions);

} // namespace sinter::compiler
