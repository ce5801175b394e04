#include "runtime/program/ProfileText.h"
#include "runtime/support/WorkTimes.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;

namespace {

StepProfile stepOf(std::string kernel, uint64_t microseconds, uint64_t bytes,
                   uint64_t flops, std::string line) {
  StepProfile step;
  step.kernel = std::move(kernel);
  step.kind = "map";
  step.site = line;
  step.lines = {{line, 1}};
  step.runs = 10;
  step.bytes = bytes;
  step.flops = flops;
  step.least = microseconds * 1000;
  step.total = 10 * step.least;
  return step;
}

const Ceilings ceilings{1e9, 1e9, "made up"}; // 1000 bytes a microsecond

} // namespace

TEST(ProfileText, groupsEqualLaunches) {
  std::vector<StepProfile> steps = {
      stepOf("a", 10, 100, 0, "m:1"), stepOf("b", 25, 100, 0, "m:2"),
      stepOf("a", 20, 100, 0, "m:3"), stepOf("a", 1, 50, 0, "m:1")};
  std::vector<StepGroup> groups = groupSteps(steps);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_EQ(groups[0].step.kernel, "a");
  EXPECT_EQ(groups[0].launches, 2u);
  EXPECT_EQ(groups[0].step.runs, 20u);
  EXPECT_EQ(groups[0].step.total, 300'000u);
  EXPECT_EQ(groups[0].step.least, 10'000u);
  EXPECT_EQ(groups[0].step.lines.size(), 2u);
  EXPECT_EQ(groups[1].step.kernel, "b");
  EXPECT_EQ(groups[2].step.bytes, 50u);
}

TEST(ProfileText, boundsAreOfBytesAndOperations) {
  Bound bound = boundOf(ceilings, stepOf("a", 1, 4000, 1000, "m:1"));
  EXPECT_EQ(bound.bytesNanoseconds, 4000);
  EXPECT_EQ(bound.flopsNanoseconds, 1000);
  EXPECT_TRUE(bound.byMemory());
  EXPECT_EQ(bound.nanoseconds(), 4000);
  StepGroup half{stepOf("a", 8, 1000, 4000, "m:1")};
  EXPECT_DOUBLE_EQ(half.partOfBound(ceilings), 0.5);
}

TEST(ProfileText, listsWhatIsFarFromItsBound) {
  std::vector<StepGroup> groups = groupSteps({
      stepOf("near", 50, 20'000, 0, "m:1"), // 40 %
      stepOf("far", 40, 4000, 0, "m:2"),    // 10 %
      stepOf("computes", 8, 100, 3000, "m:3"),
      stepOf("short", 2, 1, 1, "m:4"), // 2 % of the time
  });
  std::vector<StepGroup> far = farFromBound(groups, ceilings);
  ASSERT_EQ(far.size(), 1u);
  EXPECT_EQ(far[0].step.kernel, "far");
}

TEST(ProfileText, linesShareALaunchByTheirOps) {
  StepProfile both = stepOf("a", 10, 1, 1, "m:1");
  both.lines = {{"m:1", 1}, {"m:2", 3}};
  auto shares = lineShares({both, stepOf("b", 10, 1, 1, "m:1")});
  ASSERT_EQ(shares.size(), 2u);
  EXPECT_EQ(shares[0].first, "m:1");
  EXPECT_DOUBLE_EQ(shares[0].second, 125'000);
  EXPECT_DOUBLE_EQ(shares[1].second, 75'000);
}

TEST(ProfileText, isATable) {
  std::vector<StepProfile> steps = {stepOf("k", 40, 4000, 100, "m:2"),
                                    stepOf("k", 40, 4000, 100, "m:3")};
  EXPECT_EQ(
      profileText(steps, ceilings),
      "ceilings: 1.0 GB/s, 1.0 GFLOP/s, made up\n"
      " share times   mean us  least us     GB/s   GFLOP/s  bytes us  "
      "flops us  of it  kernel\n"
      "100.0%     2      40.0      40.0      0.1       0.0       4.0       "
      "0.1    10%  map k:  m:2, and 1 more\n"
      "each under 25 % of its bound, over 3 % of the time:\n"
      "100.0%     2      40.0      40.0      0.1       0.0       4.0       "
      "0.1    10%  map k:  m:2, and 1 more\n"
      "shares of lines:\n"
      " 50.0%  m:2\n"
      " 50.0%  m:3\n");
  EXPECT_EQ(profileText(steps, std::nullopt).find("bound"), std::string::npos);
  EXPECT_EQ(profileText({}, ceilings), "");
}

TEST(WorkTimes, NoneIsPartOfAnother) {
  using namespace std::chrono_literals;
  resetWork();
  {
    WorkTimer outer(Work::loading);
    std::this_thread::sleep_for(2ms);
    WorkTimer inner(Work::machineCode);
    std::this_thread::sleep_for(20ms);
  }
  WorkMilliseconds work = workMilliseconds();
  EXPECT_GE(work[size_t(Work::loading)], 2);
  EXPECT_LT(work[size_t(Work::loading)], 20);
  EXPECT_GE(work[size_t(Work::machineCode)], 20);
  EXPECT_EQ(work[size_t(Work::passes)], 0);
  EXPECT_EQ(toString(Work::machineCode), "machine_code");
  resetWork();
  EXPECT_EQ(workMilliseconds()[size_t(Work::machineCode)], 0);
}
