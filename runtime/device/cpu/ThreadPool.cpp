/// One job at a time, handed out by an atomic counter.
#include "runtime/device/cpu/ThreadPool.h"

#include "runtime/memory/MemoryBudget.h"
#include "runtime/support/Flags.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <sched.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// True on a thread that is inside a body: nested calls run inline.
thread_local bool insidePool = false;

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
  ThreadPool::instance().run(body, context, chunks);
}

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

ThreadPool &ThreadPool::instance() {
  static auto *pool = new ThreadPool(defaultThreads());
  return *pool;
}

ThreadPool::ThreadPool(unsigned threads) : numThreads(std::max(1u, threads)) {
  for (unsigned i = 1; i < numThreads; ++i)
    std::thread(&ThreadPool::work, this).detach();
}

void ThreadPool::takeChunks() {
  while (true) {
    int64_t first = next.fetch_add(grain, std::memory_order_relaxed);
    if (first >= chunks)
      return;
    body(context, first, std::min(first + grain, chunks));
  }
}

void ThreadPool::run(Body newBody, void *newContext, int64_t newChunks) {
  if (newChunks <= 0)
    return;
  std::unique_lock lock(owner, std::defer_lock);
  if (newChunks == 1 || numThreads == 1 || insidePool || !lock.try_lock()) {
    newBody(newContext, 0, newChunks);
    return;
  }
  body = newBody;
  context = newContext;
  chunks = newChunks;
  // Several hand-outs a thread even out their speeds.
  grain = std::max<int64_t>(1, newChunks / (int64_t(numThreads) * 8));
  next.store(0, std::memory_order_relaxed);
  state.fetch_and(~closed, std::memory_order_release);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    epoch.notify_all();

  insidePool = true;
  takeChunks();
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

void ThreadPool::work() {
  insidePool = true;
  uint32_t seen = 0;
  while (true) {
    waitForChange(seen);
    seen = epoch.load(std::memory_order_acquire);
    if (!(state.fetch_add(1, std::memory_order_acquire) & closed))
      takeChunks();
    state.fetch_sub(1, std::memory_order_release);
  }
}
