/// Catches what is thrown through LLVM, and its crashes. This file is compiled
/// with exceptions.
#include "compiler/guard/Guarded.h"
#include "compiler/guard/CrashGuard.h"

#include "runtime/support/Exhausted.h"
#include "runtime/support/FloatingPoint.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <new>

namespace sinter::compiler {

/// LLVM's own allocations end here when they fail.
[[maybe_unused]] static const bool isInstalled = [] {
  llvm::install_bad_alloc_error_handler(
      [](void *, const char *, bool) { throw std::bad_alloc(); });
  return true;
}();

static ErrorInfo crashError(int signal) {
  try {
    return makeError(ErrorKind::compile,
                     "compile: LLVM stopped with signal " +
                         std::to_string(signal) +
                         ", as it does when memory runs out");
  } catch (...) {
    return exhausted();
  }
}

std::optional<ErrorInfo> detail::callGuarded(void (*work)(void *),
                                             void *context) {
  DefaultLongFloats floats;
  const void *const stack = llvm::SavePrettyStackState();
  CrashGuard guard;
  if (int signal = sigsetjmp(guard.escape, 1)) {
    llvm::RestorePrettyStackState(stack);
    return crashError(signal);
  }
  try {
    work(context);
    return std::nullopt;
  } catch (...) {
    llvm::RestorePrettyStackState(stack);
    return exhausted();
  }
}

} // namespace sinter::compiler
