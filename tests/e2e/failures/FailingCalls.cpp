/// Stands before the C library's functions, for this program and the libraries
/// it uses.
#include "tests/e2e/failures/FailingCalls.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <dlfcn.h>
#include <pthread.h>

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
constinit std::atomic<long> allocations{0}, threads{0};
} // namespace

void armFailure(Failure failure, long number) {
  armed = failure;
  at = number;
  allocations = threads = 0;
  hasFailed = false;
  isArmed = true;
}

bool disarmFailure() {
  isArmed = false;
  return hasFailed;
}

long allocationsSeen() { return allocations; }
long threadsSeen() { return threads; }

static bool failsAllocation() {
  if (!isArmed.load(std::memory_order_relaxed))
    return false;
  long number = allocations.fetch_add(1) + 1;
  Failure kind = armed;
  bool fails = (kind == Failure::oneAllocation && number == at) ||
               (kind == Failure::allAllocations && number >= at);
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
