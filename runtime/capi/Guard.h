/// Guard: what stands between C callers and Results: statuses, the last error
/// of a thread, and no exception.
#pragma once

#include "sinter/c_api.h"
#include "sinter/runtime/Result.h"

#include <utility>

namespace sinter::capi {

sinter_status statusOf(ErrorKind kind);

/// Makes it the thread's last error; gives its status. Never fails.
sinter_status fail(const ErrorInfo &error) noexcept;
/// The same of the exception that is being handled.
sinter_status failCaught() noexcept;
/// The same for others: the error of that exception.
ErrorInfo caught() noexcept;

/// Runs `function`, which gives a Status, for a caller in C.
template <typename F> sinter_status guarded(F &&function) noexcept {
  try {
    Status done = std::forward<F>(function)();
    return done ? SINTER_OK : fail(done.error());
  } catch (...) {
    return failCaught();
  }
}

/// An error of kind `invalid_argument`.
ErrorInfo invalid(std::string message);

} // namespace sinter::capi
