/// Linear: PyTorch's names, shapes and first values.
#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace sn = sinter;
using sn::nn::Linear;

TEST(Linear, ComputesXTimesWTransposedPlusB) {
  Linear layer(2, 3);
  layer.weight.set(sn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  layer.bias.set(sn::tensor({0.5f, 0.f, -1.f}));
  sn::Tensor y = layer(sn::tensor({{1.f, 1.f}, {2.f, 0.f}}));
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{3.5, 7, 10, 2.5, 6, 9}));
}

TEST(Linear, WithoutBias) {
  Linear layer(2, 1, {.bias = false});
  EXPECT_FALSE(layer.bias.defined());
  layer.weight.set(sn::tensor({{2.f, 3.f}}));
  EXPECT_EQ(layer(sn::tensor({{1.f, 1.f}})).item<float>(), 5);
}

TEST(Linear, FirstValuesAreUniform) {
  sn::manual_seed(1);
  Linear layer(100, 200);
  std::vector<float> weight = layer.weight.tensor().to_vector<float>();
  auto [low, high] = std::ranges::minmax(weight);
  EXPECT_GE(low, -0.1f);
  EXPECT_LT(high, 0.1f);
  EXPECT_LT(low, -0.0999f);
  EXPECT_GT(high, 0.0999f);
  double mean = 0, square = 0;
  for (float value : weight) {
    mean += value / weight.size();
    square += value * value / weight.size();
  }
  EXPECT_NEAR(mean, 0, 0.002);
  EXPECT_NEAR(std::sqrt(square), 0.1 / std::sqrt(3.0), 0.002);
}

TEST(Linear, WrongWidthIsAnErrorAtTheCall) {
  Linear layer(4, 2);
  unsigned line = 0;
  try {
    line = __LINE__ + 1;
    layer(sn::zeros({1, 3}));
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_NE(error.site().find("LinearTest.cpp:" + std::to_string(line)),
              std::string::npos)
        << error.what();
  }
}

TEST(Linear, OtherDTypes) {
  Linear layer(2, 2, {.dtype = sn::DType::f64});
  EXPECT_EQ(layer(sn::zeros({1, 2}, {.dtype = sn::DType::f64})).dtype(),
            sn::DType::f64);
}
