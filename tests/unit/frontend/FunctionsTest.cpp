/// Functions that are made of a few ops.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Elementwise.h>

#include <cmath>
#include <limits>

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

// A row may say that nothing counts.
TEST(Functions, QuietSoftmaxHasAZeroMore) {
  sn::Tensor x = sn::tensor({{0.f, 0.f, 0.f}, {-90.f, -90.f, -90.f}});
  Values y = sn::quiet_softmax(x, 1).to_vector<float>();
  EXPECT_FLOAT_EQ(y[0], 0.25F);
  EXPECT_LT(y[3], 1e-30F);
  Values large =
      sn::quiet_softmax(sn::tensor({200.f, 200.f}), 0).to_vector<float>();
  EXPECT_FLOAT_EQ(large[0], 0.5F);
}

TEST(Functions, LogcumsumexpOfInfinities) {
  float infinity = std::numeric_limits<float>::infinity();
  sn::Tensor x =
      sn::tensor({-infinity, -infinity, 0.f, 0.f, 100.f}).require_grad();
  sn::Tensor y = sn::logcumsumexp(x, 0);
  Values found = y.to_vector<float>();
  EXPECT_EQ(found[1], -infinity);
  EXPECT_EQ(found[2], 0);
  EXPECT_FLOAT_EQ(found[3], std::log(2.F));
  EXPECT_EQ(found[4], 100);
  sn::Tensor slope = sn::grad(sn::sum(sn::narrow(y, 0, 2, 3)), {x})[0];
  Values want{0, 0, 1.5F, 0.5F, 1};
  Values got = slope.to_vector<float>();
  // Half a unit of logarithms of 100, which is how far the largest x is.
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 4e-6 * want[i]) << i;
  // Nor does what flows into sums that are -inf reach anything.
  got = sn::grad(sn::sum(y), {x})[0].to_vector<float>();
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 4e-6 * want[i]) << i;
  sn::Tensor nothing = sn::tensor({-infinity, -infinity}).require_grad();
  sn::Tensor none = sn::sum(sn::logcumsumexp(nothing, 0));
  EXPECT_EQ(sn::grad(none, {nothing})[0].to_vector<float>(), (Values{0, 0}));
}

// Neither the forward pass nor the gradient asks how long the axis is.
TEST(Functions, LogcumsumexpOfASymbolicAxis) {
  auto slopes = [](const std::vector<float> &values) {
    sn::Tensor x = sn::tensor(values, {static_cast<int64_t>(values.size())})
                       .dynamic(0)
                       .require_grad();
    sn::Tensor y = sn::logcumsumexp(x, 0);
    return sn::grad(sn::sum(y), {x})[0].to_vector<float>();
  };
  EXPECT_EQ(slopes({5}), Values{1});
  EXPECT_EQ(slopes({}), Values{});
  Values two = slopes({0, 0});
  EXPECT_FLOAT_EQ(two[0], 1.5F);
  EXPECT_FLOAT_EQ(two[1], 0.5F);
}

TEST(Functions, GammaAndItsDerivatives) {
  sn::Tensor x = sn::tensor({0.5, 1.0, 2.5, -1.5}).require_grad();
  auto near = [](const sn::Tensor &found, const std::vector<double> &want) {
    std::vector<double> values = found.to_vector<double>();
    ASSERT_EQ(values.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(values[i], want[i], 1e-9) << i;
  };
  sn::Tensor logs = sn::lgamma(x);
  near(logs, {0.572364942925, 0, 0.284682870473, 0.860047015376});
  std::vector<double> digamma = {-1.963510026021, -0.577215664902,
                                 0.703156640645, 0.703156640645};
  near(sn::digamma(x), digamma);
  sn::Tensor slope = sn::grad(sn::sum(logs), {x})[0];
  near(slope, digamma);
  near(sn::grad(sn::sum(slope), {x})[0],
       {4.934802200545, 1.644934066848, 0.490357756100, 9.379246644989});
  near(sn::polygamma(x, 2),
       {-16.828796644234, -2.404113806319, -0.236204051641, -0.236204051642});
  expectError(sn::ErrorKind::invalid_argument,
              "polygamma: the order 21 is not in [0, 20]",
              [&] { sn::polygamma(x, 21); });
}

TEST(Functions, InverseOfErf) {
  sn::Tensor y = sn::tensor({-0.999, -0.2, 0.0, 0.7, 0.9999999});
  std::vector<double> back = sn::erf(sn::erfinv(y)).to_vector<double>();
  std::vector<double> want = y.to_vector<double>();
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(back[i], want[i], 1e-14) << i;
}
