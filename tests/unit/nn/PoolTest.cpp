/// Pooling: PyTorch's meaning of every attribute.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sn = sinter;

namespace {
using Values = std::vector<float>;
using Places = std::vector<int64_t>;
} // namespace

TEST(MaxPool, PaddingNeverWins) {
  sn::Tensor x = sn::tensor({{{-5.f, -1.f, -2.f, -3.f, -4.f}}});
  EXPECT_EQ(
      sn::max_pool1d(x, 3, {.stride = 2, .padding = 1}).to_vector<float>(),
      (Values{-1, -1, -3}));
}

TEST(MaxPool, NanIsTheLargest) {
  float nan = std::numeric_limits<float>::quiet_NaN();
  sn::Tensor x = sn::tensor({{{1.f, nan, 3.f, 2.f}}});
  Values y = sn::max_pool1d(x, 2).to_vector<float>();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 3);
}

TEST(MaxPool, CeilModeAndIndices) {
  sn::Tensor x =
      sn::tensor({{{1.f, 3.f, 2.f}, {6.f, 5.f, 4.f}, {7.f, 8.f, 9.f}}})
          .reshape({1, 1, 3, 3});
  auto [y, places] = sn::max_pool_with_indices(x, {2, 2}, {.ceil_mode = true});
  EXPECT_EQ(y.to_vector<float>(), (Values{6, 4, 8, 9}));
  EXPECT_EQ(places.to_vector<int64_t>(), (Places{3, 5, 7, 8}));
  EXPECT_EQ(sn::max_unpool(y, places, {3, 3}).to_vector<float>(),
            (Values{0, 0, 0, 6, 0, 4, 0, 8, 9}));
}

// Windows that overlap give the same element twice.
TEST(MaxUnpool, PutsBackOnceWhatCameTwice) {
  sn::Tensor x = sn::tensor({{{1.f, 5.f, 2.f, 0.f}}});
  auto [y, places] = sn::max_pool_with_indices(x, {2}, {.stride = 1});
  EXPECT_EQ(places.to_vector<int64_t>(), (Places{1, 1, 2}));
  y = y.detach();
  y.require_grad();
  sn::Tensor back = sn::max_unpool(y, places, {4});
  EXPECT_EQ(back.to_vector<float>(), (Values{0, 5, 2, 0}));
  sn::Tensor weights = sn::tensor({{{1.f, 2.f, 3.f, 4.f}}});
  EXPECT_EQ(sn::grad(sn::sum(back * weights), {y})[0].to_vector<float>(),
            (Values{2, 2, 3}));
}

TEST(MaxPool, GradientGoesToTheFirstOfEquals) {
  sn::Tensor x = sn::tensor({{{2.f, 2.f, 2.f, 1.f}}});
  x.require_grad();
  sn::Tensor y = sn::max_pool1d(x, 2, {.stride = 1});
  EXPECT_EQ(sn::grad(sn::sum(y), {x})[0].to_vector<float>(),
            (Values{1, 1, 1, 0}));
}

TEST(AvgPool, CountsPaddingUnlessTold) {
  sn::Tensor x = sn::tensor({{{1.f, 2.f, 3.f}}});
  EXPECT_EQ(
      sn::avg_pool1d(x, 2, {.stride = 1, .padding = 1}).to_vector<float>(),
      (Values{0.5, 1.5, 2.5, 1.5}));
  EXPECT_EQ(sn::avg_pool1d(
                x, 2, {.stride = 1, .padding = 1, .count_include_pad = false})
                .to_vector<float>(),
            (Values{1, 1.5, 2.5, 3}));
  // A window that ends after the padding counts what is before its end.
  EXPECT_EQ(sn::avg_pool1d(x, 2, {.ceil_mode = true}).to_vector<float>(),
            (Values{1.5, 3}));
  EXPECT_EQ(sn::avg_pool1d(x, 3, {.divisor = 2}).to_vector<float>(),
            (Values{3}));
}

TEST(AdaptivePool, EvenAndUneven) {
  sn::Tensor x = sn::tensor({{{1.f, 2.f, 3.f, 4.f, 5.f, 6.f}}});
  EXPECT_EQ(sn::adaptive_avg_pool(x, 3).to_vector<float>(),
            (Values{1.5, 3.5, 5.5}));
  EXPECT_EQ(sn::adaptive_avg_pool(x, 4).to_vector<float>(),
            (Values{1.5, 2.5, 4.5, 5.5}));
  EXPECT_EQ(sn::adaptive_max_pool(x, 4).to_vector<float>(),
            (Values{2, 3, 5, 6}));
  sn::nn::AdaptiveAvgPool2d square(2);
  EXPECT_EQ(square(sn::ones({1, 3, 4, 6})).to_vector<float>(), Values(12, 1.f));
}

TEST(PoolLayers, AreTheirFunctions) {
  sn::Tensor x = sn::uniform({1, 2, 6, 6});
  sn::nn::MaxPool2d most(3, {.stride = 2});
  sn::nn::AvgPool2d mean({2, 3});
  EXPECT_EQ(most(x).to_vector<float>(),
            sn::max_pool2d(x, 3, {.stride = 2}).to_vector<float>());
  EXPECT_EQ(mean(x).to_vector<float>(),
            sn::avg_pool2d(x, {2, 3}).to_vector<float>());
  sn::nn::AdaptiveMaxPool2d largest({2, 3});
  EXPECT_EQ(largest(x).to_vector<float>(),
            sn::adaptive_max_pool(x, {2, 3}).to_vector<float>());
}

TEST(PoolLayers, OfOneAxis) {
  sn::Tensor x = sn::uniform({2, 3, 12});
  sn::nn::MaxPool1d most(3, {.stride = 2});
  sn::nn::AvgPool1d mean(4, {.padding = 1});
  sn::nn::AdaptiveAvgPool1d means(5);
  sn::nn::AdaptiveMaxPool1d largest(5);
  EXPECT_EQ(most(x).to_vector<float>(),
            sn::max_pool1d(x, 3, {.stride = 2}).to_vector<float>());
  EXPECT_EQ(mean(x).to_vector<float>(),
            sn::avg_pool1d(x, 4, {.padding = 1}).to_vector<float>());
  EXPECT_EQ(means(x).to_vector<float>(),
            sn::adaptive_avg_pool(x, 5).to_vector<float>());
  EXPECT_EQ(largest(x).to_vector<float>(),
            sn::adaptive_max_pool(x, 5).to_vector<float>());
  EXPECT_EQ(sn::nn::MaxPool1d(most).num_params(), 0);
}

TEST(Fold, AddsWhatUnfoldTook) {
  sn::Tensor x = sn::iota({1, 1, 3, 3}, 3, {sn::DType::f32, {}});
  sn::Tensor columns = sn::unfold(x, {2, 2}, {});
  EXPECT_EQ(columns.dim(1).value, 4);
  EXPECT_EQ(columns.dim(2).value, 4);
  EXPECT_EQ(sn::fold(columns, {3, 3}, {2, 2}, {}).to_vector<float>(),
            (Values{0, 2, 2, 0, 4, 4, 0, 2, 2}));
}
