/// Counts forks, and takes the locks of tables around them.
#include "runtime/support/Fork.h"

#include <chrono>
#include <new>
#include <thread>

namespace sinter {

static std::atomic<uint32_t> forks{0};

//===- Locks of tables ----------------------------------------------------===//

/// All that there are. Constant at first: some are made before `main`.
class ForkMutexes {
public:
  static void add(ForkMutex &mutex);
  static void remove(ForkMutex &mutex);
  /// Takes all but the thread's own, and the list.
  static void lock();
  static void unlock();

private:
  static bool tryAll();
  /// Gives up those before `end`.
  static void release(ForkMutex *end);

  static constinit inline std::mutex mutex;
  static constinit inline ForkMutex *first = nullptr;
};

void ForkMutexes::add(ForkMutex &added) {
  std::lock_guard lock(mutex);
  added.next = first;
  if (first)
    first->previous = &added;
  first = &added;
}

void ForkMutexes::remove(ForkMutex &removed) {
  std::lock_guard lock(mutex);
  if (removed.next)
    removed.next->previous = removed.previous;
  (removed.previous ? removed.previous->next : first) = removed.next;
}

void ForkMutexes::release(ForkMutex *end) {
  for (ForkMutex *each = first; each != end; each = each->next)
    if (!each->isThisThreads())
      each->mutex.unlock();
}

bool ForkMutexes::tryAll() {
  for (ForkMutex *each = first; each; each = each->next)
    if (!each->isThisThreads() && !each->mutex.try_lock()) {
      release(each);
      return false;
    }
  return true;
}

// Who has one may want another, in any order: nothing is held while this waits.
void ForkMutexes::lock() {
  for (;;) {
    mutex.lock();
    if (tryAll())
      return;
    mutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

void ForkMutexes::unlock() {
  release(nullptr);
  mutex.unlock();
}

ForkMutex::ForkMutex() { ForkMutexes::add(*this); }
ForkMutex::~ForkMutex() { ForkMutexes::remove(*this); }

//===- Forks --------------------------------------------------------------===//

// Told before any other: theirs are called first, and may wait for threads that
// use tables.
[[maybe_unused]] static const int isTold =
    pthread_atfork(ForkMutexes::lock, ForkMutexes::unlock, [] {
      forks.fetch_add(1, std::memory_order_relaxed);
      ForkMutexes::unlock();
    });

uint32_t forkNumber() { return forks.load(std::memory_order_relaxed); }

void aroundFork(void (*before)(), void (*inParent)(), void (*inChild)()) {
  if (pthread_atfork(before, inParent, inChild) != 0)
    throw std::bad_alloc();
}

} // namespace sinter
