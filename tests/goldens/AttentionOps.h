/// Golden cases of attention and of transformers' layers.
#pragma once

#include "tests/goldens/Ops.h"

namespace sinter::goldens {

/// Records the case; nothing when it is none of these.
std::optional<Values> recordAttention(const Case &golden, const Values &inputs);

} // namespace sinter::goldens
