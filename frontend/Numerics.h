/// The numerics mode of the thread at hand.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/Numerics.h>

namespace sinter::detail {

/// What the thread has set, if it has.
std::optional<Numerics> chosenNumerics();

/// The mode that counts; an error when SINTER_NUMERICS, which nothing has set
/// aside, names none.
Result<Numerics> currentNumerics();

} // namespace sinter::detail
