/// Catches what is thrown through LLVM, and its crashes. This file is compiled
/// with exceptions.
#include "compiler/guard/Guarded.h"
#include "compiler/guard/CrashGuard.h"

#include "runtime/support/Cancel.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/FloatingPoint.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/PrettyStackTrace.h"

#include <cstdlib>
#include <new>
#include <thread>

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

/// Whether there is memory for what a thread's first work makes: a library's
/// thread-local data. The C library ends the process where there is none.
static bool hasRoomForThread() {
  constexpr size_t bytes = 32 << 10; // LLVM's and the table for all libraries'
  void *volatile room = std::malloc(bytes);
  bool hasRoom = room != nullptr;
  std::free(room);
  return hasRoom;
}

/// Whether work on this thread was broken off. The tables that MLIR keeps for
/// a thread may be half made then, and crash all that uses them.
static thread_local bool isSpoiled = false;

static std::optional<ErrorInfo> callHere(void (*work)(void *), void *context) {
  DefaultLongFloats floats;
  const void *const stack = llvm::SavePrettyStackState();
  CrashGuard guard;
  if (int signal = sigsetjmp(guard.escape, 1)) {
    llvm::RestorePrettyStackState(stack);
    isSpoiled = true;
    return crashError(signal);
  }
  try {
    work(context);
    return std::nullopt;
  } catch (...) {
    llvm::RestorePrettyStackState(stack);
    isSpoiled = true;
    return exhausted();
  }
}

static std::optional<ErrorInfo> callElsewhere(void (*work)(void *),
                                              void *context) {
  std::optional<ErrorInfo> error;
  try {
    std::thread([&, flag = currentCancelFlag()] {
      CancelFlagScope scope(flag);
      error = callHere(work, context);
    }).join();
  } catch (...) {
    return exhausted();
  }
  return error;
}

std::optional<ErrorInfo> detail::callGuarded(void (*work)(void *),
                                             void *context) {
  if (!hasRoomForThread())
    return outOfMemory();
  return (isSpoiled ? callElsewhere : callHere)(work, context);
}

} // namespace sinter::compiler
