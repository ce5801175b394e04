/// Stands before the C library's functions, for this program and the libraries
/// it uses.
#include "tests/e2e/failures/FailingCalls.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <dlfcn.h>
#include <pthread.h>
#include <unwind.h>

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace {
constinit std::atomic<bool> isArmed{false};
constinit std::atomic<bool> hasFailed{false};
constinit std::atomic<Failure> armed{Failure::oneAllocation};
constinit std::atomic<long> at{0};
constinit std::atomic<long> allocations{0}, threads{0}, fatal{0};
} // namespace

void armFailure(Failure failure, long number) {
  armed = failure;
  at = number;
  allocations = threads = fatal = 0;
  hasFailed = false;
  isArmed = true;
}

bool disarmFailure() {
  isArmed = false;
  return hasFailed;
}

long allocationsSeen() { return allocations; }
long threadsSeen() { return threads; }
long fatalAllocations() { return fatal; }

namespace {
/// Functions on the stack of a call, by where they are.
struct Callers {
  bool isFirst = true;
  bool isOfLoader = false;   ///< the one that allocates
  bool isCaught = false;     ///< what the loader raises below ends in an error
  bool isDestructor = false; ///< it notes how thread-local data ends
};
} // namespace

static _Unwind_Reason_Code look(_Unwind_Context *context, void *argument) {
  auto &callers = *static_cast<Callers *>(argument);
  Dl_info found = {};
  auto *address = reinterpret_cast<void *>(_Unwind_GetIP(context));
  if (!address || !dladdr(address, &found))
    return _URC_NO_REASON;
  std::string_view file = found.dli_fname ? found.dli_fname : "";
  std::string_view symbol = found.dli_sname ? found.dli_sname : "";
  // The first that is not of this file.
  if (callers.isFirst && file.find("failures-test") == file.npos) {
    callers.isFirst = false;
    callers.isOfLoader = file.find("/ld-linux") != file.npos;
    callers.isDestructor = symbol == "__cxa_thread_atexit_impl";
  }
  callers.isCaught |= symbol == "_dl_catch_exception";
  return _URC_NO_REASON;
}

/// Whether the C library ends the process when this allocation fails: it is for
/// a library's thread-local data, or notes how that ends. No program can go on.
static bool isFatal() {
  Callers callers;
  _Unwind_Backtrace(look, &callers);
  return callers.isDestructor || (callers.isOfLoader && !callers.isCaught);
}

static bool failsAllocation() {
  if (!isArmed.load(std::memory_order_relaxed))
    return false;
  long number = allocations.fetch_add(1) + 1;
  Failure kind = armed;
  bool fails = (kind == Failure::oneAllocation && number == at) ||
               (kind == Failure::allAllocations && number >= at);
  if (fails && isFatal()) {
    // Then the next one fails.
    if (kind == Failure::oneAllocation)
      at = number + 1;
    ++fatal;
    return false;
  }
  if (fails) {
    hasFailed = true;
    errno = ENOMEM;
  }
  return fails;
}

extern "C" void *malloc(size_t bytes) {
  return failsAllocation() ? nullptr : __libc_malloc(bytes);
}

extern "C" void *calloc(size_t count, size_t bytes) {
  return failsAllocation() ? nullptr : __libc_calloc(count, bytes);
}

extern "C" void *realloc(void *block, size_t bytes) {
  return failsAllocation() ? nullptr : __libc_realloc(block, bytes);
}

extern "C" void *aligned_alloc(size_t alignment, size_t bytes) {
  return failsAllocation() ? nullptr : __libc_memalign(alignment, bytes);
}

extern "C" int posix_memalign(void **block, size_t alignment, size_t bytes) {
  if (failsAllocation())
    return ENOMEM;
  *block = __libc_memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}

extern "C" int pthread_create(pthread_t *thread, const pthread_attr_t *options,
                              void *(*body)(void *), void *argument) {
  using Create =
      int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const auto next =
      reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (isArmed.load(std::memory_order_relaxed)) {
    long number = threads.fetch_add(1) + 1;
    if (armed == Failure::allThreads && number >= at) {
      hasFailed = true;
      return EAGAIN;
    }
  }
  return next(thread, options, body, argument);
}
