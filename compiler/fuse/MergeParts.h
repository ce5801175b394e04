/// Parts of attention that one walk over the scores makes, and results of one
/// sort.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// Makes one kernel of results of one sort, and of parts that share their
/// scores: the result with what its gradient needs of it, the gradients of key
/// and value.
void mergeParts(FusionGraph &graph, const FuseOptions &options,
                std::vector<FusionDecision> &decisions);

} // namespace sinter::compiler
