/// CrashGuard: what LLVM does where memory runs out and it does not look.
#pragma once

#include <csetjmp>

namespace sinter::compiler {

/// While one lives on a thread, a fault or an abort of that thread goes on at
/// its `escape`, and those of other threads go where the host sent them. LLVM
/// uses some of what `malloc` gives without a look, and throws through
/// functions that must not throw. When the last one of the process ends, the
/// signals are the host's again, LLVM's own handlers for them gone.
///
///   CrashGuard guard;
///   if (int signal = sigsetjmp(guard.escape, 1)) ... // as after a throw
class CrashGuard {
public:
  CrashGuard();
  ~CrashGuard();
  CrashGuard(const CrashGuard &) = delete;

  sigjmp_buf escape;

private:
  CrashGuard *const outer;
};

} // namespace sinter::compiler
