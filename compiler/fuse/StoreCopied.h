/// What one op alone would be written out too often by.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// Views, sources and single numbers are repeated in every kernel that reads
/// them, and in one kernel for each access. Where that makes an op alone too
/// many elements (see EmissionCounter), values behind it are stored, those
/// first that take the most with them; and so are long chains of views that
/// many kernels would repeat. Before any group is formed.
void storeCopied(FusionGraph &graph, const FuseOptions &options,
                 std::vector<FusionDecision> &decisions);

} // namespace sinter::compiler
