/// Counts forks.
#include "runtime/support/Fork.h"

#include <atomic>
#include <new>

#include <pthread.h>

using namespace sinter;

static std::atomic<uint32_t> forks{0};

[[maybe_unused]] static const int isCounted = pthread_atfork(
    nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });

uint32_t sinter::forkNumber() { return forks.load(std::memory_order_relaxed); }

void sinter::aroundFork(void (*before)(), void (*inParent)(),
                        void (*inChild)()) {
  if (pthread_atfork(before, inParent, inChild) != 0)
    throw std::bad_alloc();
}
