/// One job at a time, handed out by an atomic counter for each thread's share.
#include "runtime/device/ThreadPool.h"

#include "runtime/memory/MemoryBudget.h"
#include "runtime/support/Exhausted.h"
#include "runtime/support/Flags.h"
#include "runtime/support/FloatingPoint.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sched.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// True on a thread that is inside a body: nested calls run inline.
SINTER_THREAD_LOCAL bool insidePool = false;

/// Of this thread's jobs; 0: none.
SINTER_THREAD_LOCAL unsigned threadLimit = 0;

constexpr auto spinTime = std::chrono::microseconds(20);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Spins until `ready()` for a short time; false when it is still not.
template <typename Ready> bool spin(Ready ready) {
  auto end = std::chrono::steady_clock::now() + spinTime;
  do {
    for (int i = 0; i < 32; ++i) {
      if (ready())
        return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

} // namespace

void sinter_parallel_for(void (*body)(void *, int64_t, int64_t), void *context,
                         int64_t chunks) {
  if (threadLimit == 1 && chunks > 0) // starts no thread either
    return body(context, 0, chunks);
  ThreadPool::instance().run(body, context, chunks);
}

ThreadLimit::ThreadLimit(unsigned threads) : before(threadLimit) {
  threadLimit = threads;
}

ThreadLimit::~ThreadLimit() { threadLimit = before; }

unsigned sinter::runtime::defaultThreads() {
  if (flags().threads > 0)
    return unsigned(std::min<int64_t>(flags().threads, 1024));
  unsigned count = std::max(1u, std::thread::hardware_concurrency());
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    count = unsigned(std::max(1, CPU_COUNT(&allowed)));
  if (unsigned quota = cgroupCpuQuota())
    count = std::min(count, quota);
  return count;
}

// A child process has none of its parent's threads: it makes its own pool, and
// leaves the other one as it is.
ThreadPool &ThreadPool::instance() {
  static auto &making = *new ForkMutex;
  static std::atomic<ThreadPool *> pool{nullptr};
  static std::atomic<uint32_t> madeIn{0};
  ThreadPool *there = pool.load(std::memory_order_acquire);
  if (there && madeIn.load(std::memory_order_relaxed) == forkNumber())
      [[likely]]
    return *there;
  std::lock_guard lock(making);
  there = pool.load(std::memory_order_relaxed);
  if (there && madeIn.load(std::memory_order_relaxed) == forkNumber())
    return *there;
  there = new ThreadPool(defaultThreads());
  madeIn.store(forkNumber(), std::memory_order_relaxed);
  pool.store(there, std::memory_order_release);
  return *there;
}

ThreadPool::ThreadPool(unsigned threads)
    : numThreads(std::max(1u, threads)), shares(new Share[numThreads]) {
  // Who is there takes the shares of who is not.
  ifPossible([&] {
    for (unsigned i = 1; i < numThreads; ++i)
      std::thread(&ThreadPool::work, this, i).detach();
  });
}

void ThreadPool::takeChunks(unsigned thread) {
  for (unsigned i = 0; i < active; ++i) {
    Share &share = shares[(thread + i) % active];
    // A look first: of the shares of others most are empty.
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      int64_t first = share.next.fetch_add(grain, std::memory_order_relaxed);
      if (first < share.end)
        body(context, first, std::min(first + grain, share.end));
    }
  }
}

void ThreadPool::run(Body newBody, void *newContext, int64_t newChunks) {
  if (newChunks <= 0)
    return;
  unsigned most = threadLimit ? std::min(threadLimit, numThreads) : numThreads;
  std::unique_lock lock(owner, std::defer_lock);
  if (newChunks == 1 || most == 1 || insidePool || !lock.try_lock()) {
    newBody(newContext, 0, newChunks);
    return;
  }
  body = newBody;
  context = newContext;
  active = most;
  // Several hand-outs a thread even out their speeds.
  int64_t count = most;
  grain = std::max<int64_t>(1, newChunks / (count * 8));
  for (int64_t i = 0, end = 0; i < count; ++i) {
    shares[i].next.store(end, std::memory_order_relaxed);
    end = newChunks / count * (i + 1) + newChunks % count * (i + 1) / count;
    shares[i].end = end;
  }
  state.fetch_and(~closed, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    epoch.notify_all();

  insidePool = true;
  takeChunks(0);
  insidePool = false;

  // Only those who came in are waited for; a worker still asleep stays out.
  uint32_t inside = state.fetch_or(closed, std::memory_order_acq_rel) & ~closed;
  if (inside == 0)
    return;
  auto empty = [&] { return state.load(std::memory_order_acquire) == closed; };
  while (!spin(empty))
    std::this_thread::yield();
}

void ThreadPool::waitForChange(uint32_t seen) {
  auto changed = [&] { return epoch.load(std::memory_order_acquire) != seen; };
  if (spin(changed))
    return;
  sleepers.fetch_add(1, std::memory_order_seq_cst);
  epoch.wait(seen, std::memory_order_seq_cst);
  sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void ThreadPool::work(unsigned thread) {
  insidePool = true;
  DefaultFloats floats; // a new thread has its maker's
  uint32_t seen = 0;
  while (true) {
    waitForChange(seen);
    seen = epoch.load(std::memory_order_acquire);
    if (!(state.fetch_add(1, std::memory_order_acquire) & closed) &&
        thread < active)
      takeChunks(thread);
    state.fetch_sub(1, std::memory_order_release);
  }
}
