/// Recompute: computing a value again instead of keeping it.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// Marks a clone in `main`: it is computed when it is read, not beside other
/// readers of its operands.
inline constexpr const char *recomputedAttr = "sinter.recomputed";

/// Where the planned peak of memory is above `limit` bytes, values that are
/// kept across it and that later launches can compute again cheaply (no
/// contraction, nothing that reads an index) are cloned for those. The clones
/// see the same operands, so they have the same bits. Symbols have the extent
/// that cost estimates assume. Deterministic; what is done, and whether it is
/// enough, is returned as decisions of rule `memory`.
std::vector<FusionDecision> recomputeValues(mlir::func::FuncOp function,
                                            const FuseOptions &options,
                                            int64_t limit);

} // namespace sinter::compiler
