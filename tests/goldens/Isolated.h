/// Isolated: golden cases in a process beside this one.
#pragma once

#include "tests/goldens/Ways.h"

#include <functional>
#include <span>

namespace sinter::goldens {

/// Runs the cases in order and reports each. They share a process; when that
/// dies, the case that it ran has failed, and the next begin a new one. Comes
/// before anything that starts threads.
void runIsolated(
    std::span<const Case *const> cases,
    const std::function<Outcome(const Case &)> &run,
    const std::function<void(const Case &, const Outcome &)> &report);

} // namespace sinter::goldens
