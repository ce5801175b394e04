/// PendingLimits: how much may be recorded before Sinter evaluates by itself.
#pragma once

#include <cstddef>
#include <source_location>

namespace sinter {

/// What may stay pending on one thread. Above a limit, what is pending is
/// evaluated at the next end of a step: a read, an eval, an optimizer's step.
/// Where none comes within twice the limit it is cut into pieces, where fewest
/// bytes go from one to the next and at the same place each time, so that their
/// programs are cached; a warning says so once. Each is a flush of reason
/// `limit` in `stats()`. Steps whose program is in memory are never cut.
struct PendingLimits {
  /// Ops, as graphs have them: far more than a step records.
  size_t ops = 32768;
  /// Bytes that evaluation would leave in memory: results that tensors or
  /// state hold, and what only pending ops keep alive; of temporaries, what the
  /// program needs that followed the same recording before.
  size_t bytes = size_t(4) << 30;
  /// Recorded ops from one look at what is pending to the next, at least:
  /// where much is pending it is looked at less often, for a look costs as much
  /// as recording did.
  size_t look_every = 4096;
};

/// Sets the limits of the process, from now on. Thread-safe. Throws an
/// invalid_argument Error where one is 0.
void set_pending_limits(
    const PendingLimits &limits,
    std::source_location where = std::source_location::current());
PendingLimits pending_limits();

} // namespace sinter
