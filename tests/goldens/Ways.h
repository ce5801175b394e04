/// Ways: how a golden case is run.
#pragma once

#include "tests/goldens/Suite.h"

#include <string>
#include <vector>

namespace sinter::goldens {

enum class Verdict { passed, failed, unsupported };

struct Outcome {
  Verdict verdict = Verdict::passed;
  std::string why; ///< of a failure: the way, and what differs
};

/// Runs the case, forward and gradients. A case of category `program` runs
/// fused, one op per kernel in modes `default` and `exact`, and twice cut at
/// random points by forced evaluation; other cases run fused.
Outcome runCase(const Case &golden);

} // namespace sinter::goldens
