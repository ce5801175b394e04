/// Samplers: orders that the seed and the epoch alone decide.
#include <sinter/data/Sampler.h>

#include <sinter/Error.h>
#include <sinter/data/Shuffle.h>

#include <gtest/gtest.h>

#include <algorithm>

using namespace sinter;

TEST(Sampler, SequentialTakesAllInOrder) {
  data::Sampler sampler = data::sequential_sampler();
  EXPECT_EQ(sampler(4, 0), (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(sampler(4, 9), sampler(4, 0));
}

TEST(Sampler, RandomTakesAllOnceInAnotherOrderEachEpoch) {
  data::Sampler sampler = data::random_sampler(5);
  std::vector<std::vector<int64_t>> orders;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    orders.push_back(sampler(50, epoch));
    std::vector<int64_t> sorted = orders.back();
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, data::consecutive(50));
  }
  std::ranges::sort(orders);
  EXPECT_EQ(std::ranges::adjacent_find(orders), orders.end());
}

TEST(Sampler, SeedAndEpochDecide) {
  EXPECT_EQ(data::random_sampler(5)(50, 3), data::random_sampler(5)(50, 3));
  EXPECT_NE(data::random_sampler(5)(50, 3), data::random_sampler(6)(50, 3));
}

/// The order is part of what makes a resumed run the same as one without a
/// break, so it may not change by accident.
TEST(Sampler, OrderIsFixed) {
  EXPECT_EQ(data::random_sampler(42)(8, 1),
            (std::vector<int64_t>{4, 3, 2, 6, 7, 5, 0, 1}));
}

TEST(Sampler, ReplacementDrawsFromAll) {
  data::Sampler sampler = data::replacement_sampler(1, 10000);
  std::vector<int64_t> order = sampler(10, 0);
  ASSERT_EQ(order.size(), 10000u);
  EXPECT_EQ(order, sampler(10, 0));
  EXPECT_NE(order, sampler(10, 1));
  for (int64_t item = 0; item < 10; ++item)
    EXPECT_NEAR(std::ranges::count(order, item), 1000, 5 * 30);
  EXPECT_EQ(data::replacement_sampler(1)(7, 0).size(), 7u);
  EXPECT_TRUE(data::replacement_sampler(1)(0, 0).empty());
}

TEST(Sampler, WeightsAreProportions) {
  data::Sampler sampler = data::weighted_sampler({1, 0, 3, 0}, 1, 10000);
  std::vector<int64_t> order = sampler(4, 0);
  EXPECT_EQ(std::ranges::count(order, 1), 0);
  EXPECT_EQ(std::ranges::count(order, 3), 0);
  EXPECT_NEAR(std::ranges::count(order, 0), 2500, 5 * 43);
  EXPECT_EQ(order.size(), 10000u);
}

TEST(Sampler, BadWeightsAreErrors) {
  EXPECT_THROW(data::weighted_sampler({1, -1}, 1), Error);
  EXPECT_THROW(data::weighted_sampler({0, 0}, 1), Error);
  EXPECT_THROW(data::weighted_sampler({}, 1), Error);
  EXPECT_THROW(data::weighted_sampler({1, 2}, 1)(3, 0), Error);
}

TEST(Sampler, WithoutReplacementTakesAnyNumberInRounds) {
  data::Sampler few = data::random_sampler(5, 3),
                many = data::random_sampler(5, 9);
  EXPECT_EQ(few(50, 0).size(), 3u);
  EXPECT_NE(few(50, 0), few(50, 1));
  std::vector<int64_t> order = many(4, 2);
  ASSERT_EQ(order.size(), 9u);
  for (int round = 0; round < 2; ++round) {
    std::vector<int64_t> part(order.begin() + 4 * round,
                              order.begin() + 4 * round + 4);
    std::ranges::sort(part);
    EXPECT_EQ(part, data::consecutive(4));
  }
}

TEST(Sampler, WeightsWithoutReplacementTakeNoItemTwice) {
  data::Sampler sampler =
      data::weighted_sampler({1, 0, 3, 2}, 7, 3, /*replacement=*/false);
  for (int64_t epoch = 0; epoch < 10; ++epoch) {
    std::vector<int64_t> order = sampler(4, epoch);
    std::ranges::sort(order);
    EXPECT_EQ(order, (std::vector<int64_t>{0, 2, 3}));
  }
  EXPECT_THROW(data::weighted_sampler({1, 0, 3}, 7, 3, false)(3, 0), Error);
}
