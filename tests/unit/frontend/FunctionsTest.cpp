/// Functions that are made of a few ops.
#include "tests/unit/frontend/Counting.h"

namespace sn = sinter;
using Values = std::vector<float>;

TEST(Functions, ClampAtOneEnd) {
  sn::Tensor x = sn::tensor({-2.f, 0.f, 3.f});
  EXPECT_EQ(sn::clamp_min(x, -1).to_vector<float>(), (Values{-1, 0, 3}));
  EXPECT_EQ(sn::clamp_max(x, 1).to_vector<float>(), (Values{-2, 0, 1}));
  sn::Tensor whole = sn::tensor({-2, 0, 3});
  EXPECT_EQ(sn::clamp_max(whole, 1).dtype(), sn::DType::i32);
}

TEST(Functions, TakeCountsInRowMajorOrder) {
  sn::Tensor x = sn::tensor({{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}});
  sn::Tensor places = sn::tensor({{5, 0}, {-1, 3}});
  EXPECT_EQ(sn::take(x, places).to_vector<float>(), (Values{6, 1, 6, 4}));
  EXPECT_EQ(sn::take(x, places).rank(), 2);
}

TEST(Functions, VarianceAndMean) {
  sn::Tensor x = sn::tensor({{1.f, 3.f}, {2.f, 6.f}});
  auto [variance, mean] = sn::var_mean(x, 1);
  EXPECT_EQ(variance.to_vector<float>(), (Values{2, 8}));
  EXPECT_EQ(mean.to_vector<float>(), (Values{2, 4}));
  EXPECT_EQ(sn::cov(x).to_vector<float>(), (Values{2, 4, 4, 8}));
  EXPECT_EQ(sn::cov(x, 0).to_vector<float>(), (Values{1, 2, 2, 4}));
  expectError(sn::ErrorKind::invalid_argument, "cov: the operand must be",
              [] { sn::cov(sn::zeros({3})); });
}
