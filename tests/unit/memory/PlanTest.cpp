#include "runtime/memory/Plan.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <random>

using namespace sinter::runtime;

namespace {

std::vector<PlanRequest> randomRequests(uint64_t seed, uint32_t count,
                                        uint32_t span) {
  std::mt19937_64 random(seed);
  std::vector<PlanRequest> requests(count);
  for (PlanRequest &request : requests) {
    request.bytes = int64_t(random() % 20000);
    request.first = uint32_t(random() % count);
    request.last = request.first + uint32_t(random() % span);
  }
  return requests;
}

void expectDisjoint(const std::vector<PlanRequest> &requests,
                    const MemoryPlan &plan) {
  for (size_t a = 0; a < requests.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % planAlignment, 0);
    EXPECT_GE(plan.offsets[a], 0);
    if (requests[a].bytes == 0)
      continue;
    auto block = size_t(plan.offsets[a] / plan.stride);
    ASSERT_LT(block, plan.blocks.size());
    EXPECT_LE(plan.offsets[a] % plan.stride + requests[a].bytes,
              plan.blocks[block]);
    for (size_t b = a + 1; b < requests.size(); ++b) {
      bool together = requests[a].first <= requests[b].last &&
                      requests[b].first <= requests[a].last;
      bool overlap = plan.offsets[a] < plan.offsets[b] + requests[b].bytes &&
                     plan.offsets[b] < plan.offsets[a] + requests[a].bytes;
      bool empty = requests[a].bytes == 0 || requests[b].bytes == 0;
      EXPECT_FALSE(together && overlap && !empty) << a << " and " << b;
    }
  }
}

/// The most bytes that are live in one step: no plan can do with less.
int64_t lowerBound(const std::vector<PlanRequest> &requests) {
  uint32_t steps = 0;
  for (const PlanRequest &request : requests)
    steps = std::max(steps, request.last + 1);
  std::vector<int64_t> live(steps);
  for (const PlanRequest &request : requests)
    for (uint32_t step = request.first; step <= request.last; ++step)
      live[step] +=
          (request.bytes + planAlignment - 1) / planAlignment * planAlignment;
  return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
}

} // namespace

TEST(Plan, placesNothing) {
  EXPECT_EQ(planMemory({}).bytes(), 0);
  std::vector<PlanRequest> empty = {{0, 0, 5}, {0, 1, 1}};
  EXPECT_EQ(planMemory(empty).bytes(), 0);
}

TEST(Plan, sharesMemoryOverTime) {
  // A chain: each value dies when the next but one is made.
  std::vector<PlanRequest> chain;
  for (uint32_t i = 0; i < 10; ++i)
    chain.push_back({1000, i, i + 1});
  MemoryPlan plan = planMemory(chain);
  EXPECT_EQ(plan.bytes(), 2048);
  expectDisjoint(chain, plan);
}

TEST(Plan, keepsLiveRequestsApart) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto requests = randomRequests(seed, 150, 1 + uint32_t(seed) * 3);
    MemoryPlan plan = planMemory(requests);
    expectDisjoint(requests, plan);
    EXPECT_LE(plan.bytes(), lowerBound(requests) * 3 / 2 + 4096) << seed;
  }
}

TEST(Plan, isAFunctionOfItsRequests) {
  auto requests = randomRequests(7, 1000, 40);
  EXPECT_EQ(planMemory(requests).offsets, planMemory(requests).offsets);
}

// Empty requests take no place; only how the others are found one changes.
TEST(Plan, manyRequestsAreAsFew) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<PlanRequest> few = randomRequests(seed, 2000, 40);
    std::vector<PlanRequest> many = few;
    many.resize(5000);
    MemoryPlan plan = planMemory(many);
    plan.offsets.resize(few.size());
    EXPECT_EQ(plan.offsets, planMemory(few).offsets) << "seed " << seed;
    EXPECT_EQ(plan.bytes(), planMemory(few).bytes());
  }
}

TEST(Plan, cutsBlocksWhereOneMayNotBeLarger) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    auto requests = randomRequests(seed, 150, 1 + uint32_t(seed) * 3);
    int64_t most = 20000 + 997 * int64_t(seed);
    MemoryPlan plan = planMemory(requests, most);
    expectDisjoint(requests, plan);
    for (int64_t block : plan.blocks)
      EXPECT_LE(block, (most + planAlignment) / planAlignment * planAlignment);
    EXPECT_LE(plan.bytes(), lowerBound(requests) * 2 + 20480) << seed;
    std::vector<PlanRequest> many = requests;
    many.resize(5000);
    MemoryPlan other = planMemory(many, most);
    other.offsets.resize(requests.size());
    EXPECT_EQ(other.offsets, plan.offsets) << seed;
    EXPECT_EQ(other.blocks, plan.blocks) << seed;
  }
}

// What no block could have is refused where it is allocated.
TEST(Plan, givesTheLargestRequestABlock) {
  std::vector<PlanRequest> requests = {{100, 0, 3}, {5000, 0, 3}, {100, 0, 3}};
  MemoryPlan plan = planMemory(requests, 1024);
  expectDisjoint(requests, plan);
  EXPECT_EQ(plan.blocks, (std::vector<int64_t>{5120, 512}));
}
