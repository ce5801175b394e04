/// Shrink: from a failing graph to a smaller one that still fails.
#pragma once

#include "runtime/reference/Repro.h"

#include <functional>

namespace sinter::cli {

/// Whether a smaller graph still fails. What cannot be compiled, run or
/// computed by the reference does not.
using StillFails = std::function<bool(const reference::Repro &)>;

struct Shrunk {
  reference::Repro repro;
  unsigned trials = 0; ///< candidates that were tried
};

/// Drops outputs, takes what an output is computed from as the output, turns
/// values into inputs that hold what the reference computes, and makes dims
/// smaller where the shape rules allow; each as long as the graph still fails.
/// `mostTrials` bounds the work. Deterministic.
Shrunk shrink(const reference::Repro &repro, const StillFails &stillFails,
              unsigned mostTrials = 1000);

} // namespace sinter::cli
