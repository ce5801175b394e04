/// Repeats: values that cost less to compute again than to keep.
#pragma once

#include "compiler/fuse/FormKernels.h"

namespace sinter::compiler {

/// A cheap pointwise value that one kernel would write only for others to read
/// is computed again by those, where what it is made of is in memory anyway, or
/// is narrower and written in its place, and less is moved so. Numbers that its
/// kernel computes and spreads over it, such as statistics of rows, are kept
/// instead. So are what products read, but for integers that were brought from
/// narrower ones, which they take as such. The same ops on the same values give
/// the same bits. What is decided does not depend on extents. Accepted ones are
/// decisions of rule `repeat`.
void repeatValues(FusionGraph &graph, const FuseOptions &options,
                  std::vector<FusionDecision> &decisions);

} // namespace sinter::compiler
