#include "runtime/program/Stats.h"

#include "runtime/program/CompilerHook.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;

TEST(Stats, countsByReasonAndLine) {
  resetStats();
  countFlush("read", 3);
  countFlush("print", 3);
  countFlush("read", 3);
  countMiss("new shape", 7);
  countRefusal("held by a tensor", 9);
  countRecomputed(12, 4);
  countRun({4, 100, 50, 0, 1}, 2);
  Stats stats = readStats();
  ASSERT_EQ(stats.flushes.size(), 2u);
  EXPECT_EQ(stats.flushes[0].reason, "read");
  EXPECT_EQ(stats.flushes[0].site, 3u);
  EXPECT_EQ(stats.flushes[0].count, 2u);
  EXPECT_EQ(stats.misses[0].reason, "new shape");
  EXPECT_EQ(stats.recomputed, 12u);
  EXPECT_EQ(stats.launches, 4u);
  EXPECT_EQ(stats.bytesRead, 100u);
  EXPECT_EQ(stats.bytesWritten, 50u);
  EXPECT_EQ(stats.donationsGranted, 1u);
  EXPECT_EQ(stats.donationsRefused, 3u);
  resetStats();
  EXPECT_EQ(readStats().launches, 0u);
  EXPECT_TRUE(readStats().flushes.empty());
}

TEST(Stats, countsFromManyThreads) {
  resetStats();
  std::vector<std::thread> threads;
  for (SiteId t = 0; t < 8; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 1000; ++i) {
        countFlush("read", t);
        countRun({1, 0, 0, 0, 0}, 0);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(readStats().launches, 8000u);
  EXPECT_EQ(readStats().flushes.size(), 8u);
}

TEST(CompilerHook, prefersWhatIsRegistered) {
  static const CompilerHook hook{};
  registerCompiler(&hook);
  auto found = compilerHook();
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, &hook);
  registerCompiler(nullptr);
}
