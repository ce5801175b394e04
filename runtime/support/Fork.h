/// Fork: what a child process knows about its parent's threads and devices.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include <pthread.h>

namespace sinter {

/// How many forks lie between this process and the one that loaded the library.
/// Who keeps threads or devices compares it with the number of the day that it
/// made them: in a child they do not exist.
uint32_t forkNumber();

/// Has a fork call `before` in the parent, and then `inParent` and `inChild`.
/// What is told last is called first before the fork and last after it, as
/// locks nest. Each may be null. Throws std::bad_alloc.
void aroundFork(void (*before)(), void (*inParent)(), void (*inChild)());

/// The mutex of a table that all threads use, held for a short time. A fork
/// takes every one of them, but for those that the forking thread has: a child
/// whose parent's other threads were inside would wait for them forever. While
/// one is held no mutex that `aroundFork` takes is waited for.
class ForkMutex {
public:
  /// May be made and destroyed where others are held: a fork that waits for one
  /// leaves the list of all of them alone.
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex &) = delete;
  ForkMutex &operator=(const ForkMutex &) = delete;

  void lock() {
    mutex.lock();
    owner.store(pthread_self(), std::memory_order_relaxed);
  }
  void unlock() {
    owner.store(pthread_t(), std::memory_order_relaxed);
    mutex.unlock();
  }

private:
  friend class ForkMutexes;
  bool isThisThreads() const {
    return owner.load(std::memory_order_relaxed) == pthread_self();
  }

  std::mutex mutex;
  std::atomic<pthread_t> owner{};
  ForkMutex *previous = nullptr, *next = nullptr;
};

} // namespace sinter
