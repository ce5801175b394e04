/// Horizontal fusion: kernels that have nothing to do with each other, as one.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// Merges small pointwise kernels of constant shapes whose values only leave
/// the program, such as the updates of many parameters: one launch whose chunks
/// are split among them. Leaves a decision for each pair that it considers.
void mergeIndependent(FusionGraph &graph, const FuseOptions &options,
                      std::vector<FusionDecision> &decisions);

/// As `classifyKernel`, for a group that may hold several pointwise kernels
/// side by side.
Classified classifyGroup(const FusionGraph &graph, const OpSet &members,
                         const KernelCaps &caps);

} // namespace sinter::compiler
