/// RunTogether: one function on several threads at once.
#pragma once

#include <cstddef>

namespace sinter {

namespace detail {
void runTogether(size_t threads, void (*work)(void *), void *context);
} // namespace detail

/// Calls `work` on this thread and on `threads - 1` others at once, and returns
/// when all have returned. A thread that cannot be started is left out, so the
/// work is to be taken in pieces. The others compute with the default
/// floating-point environment. The first exception of any is thrown here.
template <typename Work> void runTogether(size_t threads, Work work) {
  detail::runTogether(
      threads, [](void *context) { (*static_cast<Work *>(context))(); }, &work);
}

} // namespace sinter
