/// The mode that a thread has chosen.
#include "frontend/Numerics.h"

#include "frontend/Raise.h"
#include "runtime/program/Numerics.h"
#include "runtime/support/Flags.h"
#include "runtime/support/ThreadOwner.h"

#include <utility>

namespace sinter {

static SINTER_THREAD_LOCAL std::optional<Numerics> chosen;

std::optional<Numerics> detail::chosenNumerics() { return chosen; }

Result<Numerics> detail::currentNumerics() {
  if (chosen)
    return *chosen;
  SINTER_TRY_ASSIGN(uint8_t mode, runtime::parseNumerics("SINTER_NUMERICS",
                                                         flags().numerics));
  return Numerics(mode);
}

Numerics numerics(std::source_location where) try {
  return detail::unwrap(detail::currentNumerics(), where);
} catch (...) {
  detail::raiseExhausted(where);
}

void set_numerics(Numerics mode) { chosen = mode; }

numerics_scope::numerics_scope(Numerics mode)
    : previous(std::exchange(chosen, mode)) {}

numerics_scope::~numerics_scope() { chosen = previous; }

} // namespace sinter
