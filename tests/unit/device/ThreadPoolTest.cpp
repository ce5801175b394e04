#include "runtime/device/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

using namespace sinter::runtime;

namespace {

/// Counts how often each chunk was given out.
struct Tally {
  explicit Tally(int64_t chunks) : counts(size_t(chunks)) {}
  std::vector<std::atomic<int>> counts;

  static void body(void *context, int64_t first, int64_t last) {
    auto &tally = *static_cast<Tally *>(context);
    for (int64_t i = first; i < last; ++i)
      tally.counts[size_t(i)].fetch_add(1, std::memory_order_relaxed);
  }
  bool once() const {
    for (const std::atomic<int> &count : counts)
      if (count.load() != 1)
        return false;
    return true;
  }
};

} // namespace

TEST(ThreadPool, givesEachChunkOnce) {
  // The workers of a pool never end, so neither do the pools.
  static ThreadPool *const pools[] = {new ThreadPool(1), new ThreadPool(2),
                                      new ThreadPool(4), new ThreadPool(9)};
  for (ThreadPool *pool : pools) {
    unsigned threads = pool->threads();
    for (int64_t chunks : {0, 1, 2, 3, 7, 64, 1000, 100000}) {
      Tally tally(chunks);
      pool->run(&Tally::body, &tally, chunks);
      EXPECT_TRUE(tally.once()) << threads << " threads, " << chunks;
    }
  }
}

TEST(ThreadPool, runsManySmallJobs) {
  static auto *pool = new ThreadPool(4);
  for (int i = 0; i < 20000; ++i) {
    Tally tally(8);
    pool->run(&Tally::body, &tally, 8);
    ASSERT_TRUE(tally.once()) << i;
  }
}

TEST(ThreadPool, wakesAfterSleep) {
  static auto *pool = new ThreadPool(3);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    Tally tally(64);
    pool->run(&Tally::body, &tally, 64);
    ASSERT_TRUE(tally.once());
  }
}

TEST(ThreadPool, keepsTheCallersLimit) {
  static auto *pool = new ThreadPool(4);
  struct Seen {
    std::mutex mutex;
    std::set<std::thread::id> threads;
    std::atomic<int64_t> chunks{0};
  };
  auto note = [](void *context, int64_t first, int64_t last) {
    auto &seen = *static_cast<Seen *>(context);
    seen.chunks += last - first;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::lock_guard lock(seen.mutex);
    seen.threads.insert(std::this_thread::get_id());
  };
  auto threadsOf = [&](unsigned limit) {
    ThreadLimit threads(limit);
    size_t most = 0;
    for (int i = 0; i < 20; ++i) {
      Seen seen;
      pool->run(note, &seen, 200);
      EXPECT_EQ(seen.chunks.load(), 200);
      EXPECT_TRUE(seen.threads.contains(std::this_thread::get_id()));
      most = std::max(most, seen.threads.size());
    }
    return most;
  };
  EXPECT_EQ(threadsOf(1), 1u);
  EXPECT_EQ(threadsOf(2), 2u);
  EXPECT_EQ(threadsOf(3), 3u);
  EXPECT_EQ(threadsOf(0), 4u);
  EXPECT_EQ(threadsOf(9), 4u);
  {
    ThreadLimit outer(2);
    EXPECT_EQ(threadsOf(1), 1u);
    EXPECT_GE(threadsOf(0), 3u); // the innermost counts
  }
}

TEST(ThreadPool, runsNestedCallsInline) {
  auto outer = [](void *context, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Tally inner(16);
      std::thread::id self = std::this_thread::get_id();
      sinter_parallel_for(&Tally::body, &inner, 16);
      static_cast<std::atomic<int> *>(context)->fetch_add(
          inner.once() && self == std::this_thread::get_id());
    }
  };
  std::atomic<int> good{0};
  sinter_parallel_for(outer, &good, 50);
  EXPECT_EQ(good.load(), 50);
}

TEST(ThreadPool, servesManyHostThreads) {
  std::vector<std::thread> hosts;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t)
    hosts.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        Tally tally(40);
        sinter_parallel_for(&Tally::body, &tally, 40);
        good += tally.once();
      }
    });
  for (std::thread &host : hosts)
    host.join();
  EXPECT_EQ(good.load(), 8 * 300);
}

TEST(ThreadPool, takesItsSizeFromTheProcess) {
  unsigned threads = defaultThreads();
  EXPECT_GE(threads, 1u);
  EXPECT_EQ(ThreadPool::instance().threads(), threads);
}
