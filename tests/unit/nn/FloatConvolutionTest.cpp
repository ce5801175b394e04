/// Large convolutions of f32, which devices may have units for, against f64.
#include "tests/unit/nn/ConvolutionCase.h"
#include "tests/unit/nn/RelativeError.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace sn = sinter;

namespace {

using Case = sn::test::ConvolutionCase;

class FloatConvolution : public ::testing::TestWithParam<Case> {};

sn::Tensor drawn(const sn::Dims &shape) {
  return sn::tensor(sn::normal(shape).to_vector<float>(), shape);
}

sn::Tensor wide(const sn::Tensor &tensor) {
  return tensor.detach().to("cpu").to(sn::DType::f64).detach();
}

/// Sums of `count` products are off by the root of a third of them roundings
/// at most.
void expectNear(const sn::Tensor &result, const sn::Tensor &expected,
                int64_t count) {
  std::vector<float> own = result.to_vector<float>();
  std::vector<double> right = expected.to_vector<double>();
  ASSERT_EQ(own.size(), right.size());
  EXPECT_LE(sn::test::relativeError(own, right),
            std::ldexp(std::sqrt(double(count) / 3), -24));
}

} // namespace

TEST_P(FloatConvolution, IsThatOfDoublesButForRounding) {
  const Case &c = GetParam();
  sn::manual_seed(7);
  sn::Tensor x = drawn(c.imageShape()), w = drawn(c.weightShape());
  if (c.anyImages)
    x = x.dynamic(0);
  sn::Tensor wideX = wide(x).require_grad(), wideW = wide(w).require_grad();
  x.require_grad();
  w.require_grad();

  sn::Tensor expected = c.convolve(wideX, wideW);
  sn::Tensor result = c.convolve(x, w);
  sn::Dims weights = c.weightShape();
  int64_t taps = 1, places = c.images;
  for (size_t axis = 0; axis < c.space.size(); ++axis) {
    taps *= weights[2 + axis].value;
    places *= c.space[axis].value;
  }
  expectNear(result, expected, taps * c.channels);
  sn::Tensor grad = drawn(sn::test::sizesOf(expected));
  sn::Gradients gradients = result.backward(grad);
  sn::Gradients right = expected.backward(wide(grad));
  {
    SCOPED_TRACE("gradient of x");
    expectNear(gradients[x], right[wideX], taps * c.results);
  }
  SCOPED_TRACE("gradient of weights");
  expectNear(gradients[w], right[wideW], places);
}

static std::vector<Case> cases() {
  std::vector<Case> all{
      {{28, 30}, 64, 96, 3, 1, 1},
      {{28, 30}, 64, 128, 3, 2, 1},
      {{20, 24}, 128, 64, {3, 5}, 1, {0, 2}},
      {{24, 24}, 64, 72, {5, 3}, {2, 1}, {1, 0}, {1, 2}},
      {{900}, 64, 80, 5, 1, 2},
      {{1100}, 128, 64, 3, 1, 4, 4},
      {{9, 8, 10}, 64, 64, 3, 1, 1},
      {{26, 28}, 64, 64, 3, 1, 1},
      {{28, 28}, 64, 64, 3, 1, 1},
  };
  // Enough for tensor cores to pay.
  for (Case &each : all)
    each.images = 16;
  all.end()[-2].layout = sn::Layout::channels_first;
  all.back().anyImages = true;
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, FloatConvolution, ::testing::ValuesIn(cases()));

// An infinity is in the windows that hold it, and nowhere else.
TEST(FloatConvolution, OfAnInfinityIsInfiniteUnderItsWindows) {
  const Case c{{28, 28}, 64, 64, 3, 1, 1, 1, 16};
  sn::manual_seed(8);
  std::vector<float> numbers = sn::normal(c.imageShape()).to_vector<float>();
  constexpr int64_t image = 5, line = 9, column = 27;
  numbers[size_t(((image * 28 + line) * 28 + column) * 64 + 11)] =
      std::numeric_limits<float>::infinity();
  sn::Tensor result =
      c.convolve(sn::tensor(numbers, c.imageShape()), drawn(c.weightShape()));
  std::vector<float> own = result.to_vector<float>();
  int64_t infinite = 0, others = 0;
  for (size_t at = 0; at < own.size(); ++at) {
    int64_t place = int64_t(at) / 64;
    int64_t x = place % 28, y = place / 28 % 28, number = place / (28 * 28);
    bool isUnder =
        number == image && std::abs(y - line) <= 1 && std::abs(x - column) <= 1;
    (std::isinf(own[at]) ? infinite : others) += isUnder;
    if (!isUnder) {
      ASSERT_TRUE(std::isfinite(own[at])) << at;
    }
  }
  EXPECT_EQ(infinite, 6 * 64);
  EXPECT_EQ(others, 0);
}
