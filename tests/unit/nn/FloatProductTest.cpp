/// Large products of f32, which devices may have units for, against f64.
#include "tests/unit/nn/RelativeError.h"

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>
#include <vector>

namespace sn = sinter;

namespace {

struct Case {
  int64_t rows, columns, inner;
  bool turnsLeft = false, turnsRight = false; ///< stored the other way round
  int64_t batches = 0;                        ///< 0: a matrix
  bool hasEpilogue = false;
  bool anyRows = false; ///< one program for any number of them
};

std::ostream &operator<<(std::ostream &out, const Case &c) {
  return out << c.rows << " x " << c.columns << " x " << c.inner
             << (c.turnsLeft ? ", left turned" : "")
             << (c.turnsRight ? ", right turned" : "") << ", batches "
             << c.batches << (c.hasEpilogue ? ", epilogue" : "")
             << (c.anyRows ? ", any rows" : "");
}

sn::Tensor turned(const sn::Tensor &matrix) {
  return matrix.rank() == 2 ? matrix.transpose({1, 0})
                            : matrix.transpose({0, 2, 1});
}

sn::Tensor drawn(const Case &c, int64_t rows, int64_t columns, bool isTurned) {
  if (isTurned)
    std::swap(rows, columns);
  sn::Dims shape{rows, columns};
  if (c.batches)
    shape.insert(shape.begin(), c.batches);
  return sn::tensor(sn::normal(shape).to_vector<float>(), shape);
}

sn::Tensor productOf(const Case &c, sn::Tensor left, sn::Tensor right,
                     const sn::Tensor &bias) {
  if (c.turnsLeft)
    left = turned(left);
  if (c.turnsRight)
    right = turned(right);
  sn::Tensor result = sn::matmul(left, right);
  return c.hasEpilogue ? sn::relu(result + bias) : result;
}

class FloatProduct : public ::testing::TestWithParam<Case> {};

constexpr sn::Numerics modes[] = {sn::Numerics::standard, sn::Numerics::fast};

} // namespace

// A sum of n products by n additions of f32 is off by about the root of n / 6
// roundings of 2^-24. In `fast` each product may be off by 2^-16, most are by
// much less.
TEST_P(FloatProduct, IsThatOfDoublesButForRounding) {
  const Case &c = GetParam();
  sn::manual_seed(7);
  sn::Tensor left = drawn(c, c.rows, c.inner, c.turnsLeft);
  sn::Tensor right = drawn(c, c.inner, c.columns, c.turnsRight);
  sn::Tensor bias = sn::tensor(
      sn::normal(sn::Dims{c.columns}).to_vector<float>(), sn::Dims{c.columns});
  if (c.anyRows)
    left = left.dynamic(0);
  auto wide = [](const sn::Tensor &tensor) {
    return tensor.to("cpu").to(sn::DType::f64);
  };
  std::vector<double> expected =
      productOf(c, wide(left), wide(right), wide(bias)).to_vector<double>();
  for (sn::Numerics mode : modes) {
    sn::numerics_scope scope(mode);
    std::vector<float> result =
        productOf(c, left, right, bias).to_vector<float>();
    ASSERT_EQ(result.size(), expected.size());
    double most = std::ldexp(std::sqrt(double(c.inner) / 3), -24);
    if (mode == sn::Numerics::fast)
      most += std::ldexp(1, -17);
    EXPECT_LE(sn::test::relativeError(result, expected), most)
        << "mode " << int(mode);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Cases, FloatProduct,
    ::testing::Values(
        Case{2048, 2048, 1024}, Case{2048, 1536, 768}, Case{2100, 2056, 520},
        Case{2111, 2052, 777}, Case{2048, 2048, 1024, true},
        Case{2048, 2048, 1024, false, true}, Case{2050, 2056, 1100, true, true},
        Case{512, 512, 8192, true}, Case{512, 512, 512, false, false, 6},
        Case{1024, 1040, 520, false, true, 5},
        Case{2048, 2100, 1024, false, false, 0, true},
        Case{2048, 2048, 1024, false, true, 0, true, true},
        Case{8200, 512, 1024, false, false, 0, false, true},
        Case{256, 512, 512, false, false, 0, false, true}));

// Each element follows IEEE 754's rules for infinities and what is no number,
// and numbers at either end of the range are as any.
TEST(FloatProduct, OfWhatIsNotFiniteIsThatOfDoubles) {
  constexpr float inf = std::numeric_limits<float>::infinity();
  constexpr float most = std::numeric_limits<float>::max();
  constexpr int64_t size = 2048;
  sn::manual_seed(8);
  sn::Dims shape{size, size};
  std::vector<float> left = sn::normal(shape).to_vector<float>();
  std::vector<float> right = sn::normal(shape).to_vector<float>();
  auto row = [&](int64_t number) { return left.begin() + number * size; };
  row(3)[17] = inf;
  row(200)[1] = -inf;
  row(201)[5] = inf;
  row(201)[6] = -inf;
  row(700)[700] = std::numeric_limits<float>::quiet_NaN();
  right[size_t(17 * size + 9)] = 0; // beside an infinity: no number
  right[size_t(17 * size + 10)] = 1;
  right[size_t(400 * size + 12)] = inf;
  std::fill(row(800), row(801), 0.0f);
  row(800)[2] = most; // rounds to an infinity in fewer bits
  right[size_t(2 * size + 30)] = 0.5f;
  std::fill(row(801), row(802), 0.0f);
  row(801)[2] = 1e-30f;
  auto wide = [&](const std::vector<float> &numbers) {
    return sn::tensor(numbers, shape).to("cpu").to(sn::DType::f64);
  };
  std::vector<double> expected =
      sn::matmul(wide(left), wide(right)).to_vector<double>();
  for (sn::Numerics mode : modes) {
    sn::numerics_scope scope(mode);
    std::vector<float> result =
        sn::matmul(sn::tensor(left, shape), sn::tensor(right, shape))
            .to_vector<float>();
    bool isFast = mode == sn::Numerics::fast;
    double relative = isFast ? 0x1p-16 : 1e-6, absolute = isFast ? 3e-3 : 1e-3;
    size_t wrong = 0;
    for (size_t at = 0; at < expected.size(); ++at) {
      double right = expected[at], off = std::abs(result[at] - right);
      bool isAlone = at / size == 800 || at / size == 801; // of its row
      double most = isAlone ? relative * std::abs(right) : absolute;
      bool isRight = std::isnan(right)          ? std::isnan(result[at])
                     : std::isinf(float(right)) ? result[at] == float(right)
                                                : off <= most;
      wrong += !isRight;
    }
    EXPECT_EQ(wrong, 0u) << "mode " << int(mode);
  }
}
