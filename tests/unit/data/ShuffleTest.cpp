/// Random orders: permutations, decided by the seed alone.
#include <sinter/data/Shuffle.h>

#include <gtest/gtest.h>

#include <algorithm>

using sinter::data::shuffled;

TEST(Shuffle, IsAPermutation) {
  for (int64_t count : {0, 1, 2, 3, 10, 1000}) {
    std::vector<int64_t> order = shuffled(count, 7);
    std::ranges::sort(order);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(order[i], i);
    EXPECT_EQ(static_cast<int64_t>(order.size()), count);
  }
}

TEST(Shuffle, SeedDecides) {
  EXPECT_EQ(shuffled(100, 1), shuffled(100, 1));
  EXPECT_NE(shuffled(100, 1), shuffled(100, 2));
}

/// The order is part of what makes a training run repeatable, so it may not
/// change by accident.
TEST(Shuffle, OrderIsFixed) {
  EXPECT_EQ(shuffled(8, 42), (std::vector<int64_t>{3, 1, 6, 2, 4, 0, 7, 5}));
}

TEST(Shuffle, EveryPlaceIsEquallyLikely) {
  int counts[4][4] = {};
  constexpr int draws = 40000;
  for (int seed = 0; seed < draws; ++seed) {
    std::vector<int64_t> order = shuffled(4, seed);
    for (int place = 0; place < 4; ++place)
      ++counts[place][order[place]];
  }
  for (auto &row : counts)
    for (int count : row)
      EXPECT_NEAR(count, draws / 4., 5 * 87); // five standard deviations
}
