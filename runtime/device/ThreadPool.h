/// ThreadPool: the process's one pool of threads, behind one callback.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

/// Runs `body(context, first, last)` until every chunk in [0, chunks) was
/// given once, on the pool's threads and the calling one, and returns when all
/// are done. Chunk borders are the caller's, so results cannot depend on the
/// number of threads. A call from inside a body, or while another thread has
/// the pool, runs on the calling thread alone.
extern "C" void sinter_parallel_for(void (*body)(void *context, int64_t first,
                                                 int64_t last),
                                    void *context, int64_t chunks);

namespace sinter::runtime {

/// Started at the first use with SINTER_THREADS threads, or as many as the
/// process's affinity and its cgroups' quotas allow. Idle workers spin for
/// some microseconds, then sleep. A thread begins with a share of the chunks
/// that is the same in each job of as many: what it wrote in one is in its
/// caches in the next. Who has none left takes chunks of others.
class ThreadPool {
public:
  using Body = void (*)(void *context, int64_t first, int64_t last);

  /// The process's pool; never destroyed.
  static ThreadPool &instance();

  /// A pool of `threads` including the caller, at least one. Its workers live
  /// as long as the process.
  explicit ThreadPool(unsigned threads);
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  unsigned threads() const { return numThreads; }
  /// As sinter_parallel_for, within the calling thread's ThreadLimit.
  void run(Body body, void *context, int64_t chunks);

private:
  /// What a thread begins with, up to `end`.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };

  void work(unsigned thread);
  /// From the share of that number on; the owner's is 0.
  void takeChunks(unsigned thread);
  void waitForChange(uint32_t seen);

  /// `state` holds the number of workers inside the job and this bit, which
  /// says that nobody may enter any more.
  static constexpr uint32_t closed = 1u << 31;

  const unsigned numThreads;
  std::mutex owner; ///< held by the thread whose job runs

  // The job. Written by the owner while the pool is closed and empty.
  Body body = nullptr;
  void *context = nullptr;
  int64_t grain = 1;
  unsigned active = 1; ///< threads with lower numbers have a part in it
  const std::unique_ptr<Share[]> shares; ///< one a thread

  alignas(64) std::atomic<uint32_t> state{closed};
  alignas(64) std::atomic<uint32_t> epoch{0}; ///< grows with each job
  std::atomic<uint32_t> sleepers{0};
};

/// While it lives, jobs of this thread are done by at most so many threads,
/// this one among them; 0: by as many as the pool has.
class ThreadLimit {
public:
  explicit ThreadLimit(unsigned threads);
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit &) = delete;

private:
  const unsigned before;
};

/// Threads that SINTER_THREADS, affinity and quota give.
unsigned defaultThreads();

} // namespace sinter::runtime
