/// Cancel: requests to stop what a thread computes.
#pragma once

#include "sinter/runtime/Result.h"

#include <atomic>

namespace sinter {

/// Set by any thread, looked at by the one that works.
using CancelFlag = std::atomic<bool>;

/// The flag that this thread's work looks at; null when nobody can stop it.
const CancelFlag *currentCancelFlag();
/// Sets it; gives the one before.
const CancelFlag *setCancelFlag(const CancelFlag *flag);

/// While it lives, this thread looks at `flag`, which may be null.
class CancelFlagScope {
public:
  explicit CancelFlagScope(const CancelFlag *flag)
      : previous(setCancelFlag(flag)) {}
  ~CancelFlagScope() { setCancelFlag(previous); }
  CancelFlagScope(const CancelFlagScope &) = delete;

private:
  const CancelFlag *previous;
};

/// Whether this thread is to stop.
inline bool isCancelled() {
  const CancelFlag *flag = currentCancelFlag();
  return flag && flag->load(std::memory_order_relaxed);
}

/// The error of work that was stopped.
ErrorInfo cancelledError();

/// That error when this thread is to stop.
inline Status checkCancelled() {
  if (isCancelled())
    return cancelledError();
  return {};
}

} // namespace sinter
