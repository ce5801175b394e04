/// Random draws that are made of uniform ones.
#include "tests/unit/frontend/Counting.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace sn = sinter;
using Positions = std::vector<int64_t>;

TEST(Draws, BernoulliIsAUniformNumberBelowP) {
  sn::Generator generator(3), same(3);
  std::vector<float> ones =
      sn::bernoulli({1000}, 0.25, generator).to_vector<float>();
  std::vector<float> units = sn::uniform({1000}, same).to_vector<float>();
  for (size_t i = 0; i < ones.size(); ++i)
    EXPECT_EQ(ones[i], units[i] < 0.25F ? 1 : 0);
  EXPECT_NEAR(std::accumulate(ones.begin(), ones.end(), 0.0), 250, 60);
  sn::Tensor p = sn::tensor({0.0, 1.0});
  EXPECT_EQ(sn::bernoulli(p).to_vector<double>(), (std::vector<double>{0, 1}));
  EXPECT_EQ(sn::bernoulli({3}, 1, generator, sn::DType::boolean).dtype(),
            sn::DType::boolean);
}

TEST(Draws, IntegersFillTheirRange) {
  sn::Generator generator(4);
  Positions drawn = sn::randint(-2, 3, {2000}, generator).to_vector<int64_t>();
  EXPECT_EQ(std::set<int64_t>(drawn.begin(), drawn.end()),
            (std::set<int64_t>{-2, -1, 0, 1, 2}));
  EXPECT_NEAR(std::ranges::count(drawn, 2), 400, 100);
}

TEST(Draws, PermutationHasEachNumberOnce) {
  sn::Generator generator(5);
  Positions order = sn::randperm(100, generator).to_vector<int64_t>();
  EXPECT_FALSE(std::ranges::is_sorted(order));
  EXPECT_NE(order, sn::randperm(100, generator).to_vector<int64_t>());
  std::ranges::sort(order);
  for (int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(order[size_t(i)], i);
  EXPECT_TRUE(sn::randperm(0).to_vector<int64_t>().empty());
}

TEST(Draws, MultinomialFollowsItsWeights) {
  sn::Generator generator(6);
  sn::Tensor weights = sn::tensor({{1.f, 0.f, 3.f}, {0.f, 2.f, 0.f}});
  sn::Tensor drawn = sn::multinomial(weights, 1000, true, generator);
  EXPECT_EQ(drawn.dim(0).value, 2);
  Positions all = drawn.to_vector<int64_t>();
  auto first = std::ranges::subrange(all.begin(), all.begin() + 1000);
  EXPECT_EQ(std::ranges::count(first, 1), 0);
  EXPECT_NEAR(std::ranges::count(first, 2), 750, 60);
  EXPECT_EQ(std::ranges::count(all, 1), 1000);
  Positions twice =
      sn::multinomial(sn::tensor({1.f, 0.f, 3.f}), 2, false, generator)
          .to_vector<int64_t>();
  std::ranges::sort(twice);
  EXPECT_EQ(twice, (Positions{0, 2}));
}

TEST(Draws, RefuseWhatIsNotThere) {
  using enum sn::ErrorKind;
  expectError(invalid_argument, "bernoulli: a probability of 1.5",
              [] { sn::bernoulli({2}, 1.5); });
  expectError(invalid_argument, "randint: no integer is in [3, 3)",
              [] { sn::randint(3, 3, {2}); });
  expectError(invalid_argument, "randperm: -1 numbers",
              [] { sn::randperm(-1); });
  expectError(invalid_argument, "multinomial: 3 draws of 2 positions: f32[2]",
              [] { sn::multinomial(sn::ones({2}), 3); });
}
