/// Ways: how a golden case is run.
#pragma once

#include "tests/goldens/Suite.h"

#include <string>
#include <vector>

namespace sinter::goldens {

enum class Verdict { passed, failed, unsupported };

struct Outcome {
  Verdict verdict = Verdict::passed;
  /// Of a failure the way, and what differs; of an unsupported case what the
  /// library said.
  std::string why;
};

/// Runs the case, forward and gradients. A case of category `program` runs
/// fused, one op per kernel in modes `default` and `exact`, and twice cut at
/// random points by forced evaluation; other cases run fused. Unsupported is
/// what raises an error of the kind `unsupported`, and nothing else.
Outcome runCase(const Case &golden);

} // namespace sinter::goldens
