#include "runtime/program/Stats.h"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

using namespace sinter;
using namespace sinter::runtime;

TEST(Stats, addsUpRuns) {
  resetStats();
  countRun({4, 100, 50, 0, 1}, 2);
  countRun({1, 10, 5, 0, 0}, 0);
  countHit(/*onDisk=*/true);
  countCompile(1.5);
  countKernel(CacheSource::compiled);
  countKernel(CacheSource::compiled);
  countKernel(CacheSource::memory);
  countKernel(CacheSource::disk);
  countCheckedBlock();
  Stats stats = readStats();
  EXPECT_EQ(stats.runs, 2u);
  EXPECT_EQ(stats.launches, 5u);
  EXPECT_EQ(stats.bytesRead, 110u);
  EXPECT_EQ(stats.bytesWritten, 55u);
  EXPECT_EQ(stats.donationsGranted, 1u);
  EXPECT_EQ(stats.donationsRefused, 2u);
  EXPECT_EQ(stats.diskHits, 1u);
  EXPECT_EQ(stats.memoryHits, 0u);
  EXPECT_EQ(stats.compiles, 1u);
  EXPECT_EQ(stats.compileMilliseconds, 1.5);
  EXPECT_EQ(stats.kernelsCompiled, 2u);
  EXPECT_EQ(stats.kernelMemoryHits, 1u);
  EXPECT_EQ(stats.kernelDiskHits, 1u);
  EXPECT_EQ(stats.blocksChecked, 1u);
  resetStats();
  EXPECT_EQ(readStats().launches, 0u);
}

TEST(Stats, countsFromManyThreads) {
  resetStats();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i)
        countRun({1, 0, 0, 0, 0}, 0);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(readStats().launches, 8000u);
}
