/// det and slogdet beside PyTorch's numbers.
#include "tests/unit/frontend/Counting.h"
#include "tests/unit/frontend/Sizes.h"

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;

static sn::Tensor matrices() {
  Values values;
  for (int i = 0; i < 32; ++i)
    values.push_back(float(std::sin(double(i) * i * 1.3)));
  return sn::tensor(values, {2, 4, 4});
}

static void expectNear(const sn::Tensor &got, const Values &want,
                       double error = 5e-5) {
  Values values = got.to_vector<float>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(values[i], want[i], error * (1 + std::fabs(want[i]))) << i;
}

TEST(Determinant, OfABatchIsPyTorchs) {
  sn::Tensor x = matrices();
  x.require_grad();
  sn::Tensor y = sn::det(x);
  EXPECT_EQ(sizesOf(y), (Sizes{2}));
  expectNear(y, {1.55052F, -4.3791F});
  sn::Tensor gradient = sn::sum(y).backward()(x);
  expectNear(sn::narrow(sn::flatten(gradient), 0, 0, 8),
             {0.311127F, 0.546689F, -0.446786F, -0.825522F, -0.589917F,
              0.82773F, -1.00269F, 2.20923F});
}

TEST(Determinant, AsSignAndLogarithm) {
  sn::Tensor x = matrices();
  x.require_grad();
  auto [sign, log] = sn::slogdet(x);
  EXPECT_EQ(sign.to_vector<float>(), (Values{1, -1}));
  expectNear(log, {0.438588F, 1.47684F});
  sn::Tensor gradient = sn::sum(log).backward()(x);
  expectNear(sn::narrow(sn::flatten(gradient), 0, 0, 8),
             {0.20066F, 0.352585F, -0.288153F, -0.532417F, -0.380465F,
              0.533842F, -0.64668F, 1.42483F});
}

/// The gradient is the cofactors, which a singular matrix has, too.
TEST(Determinant, OfASingularMatrixHasAGradient) {
  sn::Tensor x = sn::tensor<float>({{1, 2, 3}, {2, 4, 6}, {1, 0, 1}});
  x.require_grad();
  sn::Tensor y = sn::det(x);
  EXPECT_NEAR(y.item<float>(), 0, 1e-5);
  expectNear(y.backward()(x), {4, 4, -4, -2, -2, 2, 0, 0, 0});
  EXPECT_EQ(sn::det(sn::zeros({3, 3})).item<float>(), 0);
  auto [sign, log] = sn::slogdet(sn::zeros({2, 2}));
  EXPECT_EQ(sign.item<float>(), 0);
  EXPECT_EQ(log.item<float>(), -INFINITY);
}

TEST(Determinant, OfSmallMatrices) {
  EXPECT_EQ(sn::det(sn::zeros({2, 0, 0})).to_vector<float>(), (Values{1, 1}));
  EXPECT_EQ(sn::det(sn::full({1, 1}, -3.F)).item<float>(), -3);
  EXPECT_EQ(sn::det(sn::tensor<float>({{0, 1}, {1, 0}})).item<float>(), -1);
  EXPECT_EQ(sizesOf(sn::det(sn::zeros({0, 2, 2}))), (Sizes{0}));
}

TEST(Determinant, RefusesWhatIsNotSquare) {
  expectError(sn::ErrorKind::invalid_argument,
              "det: the operand must be square matrices of floats: f32[2,3]",
              [] { sn::det(sn::ones({2, 3})); });
  expectError(sn::ErrorKind::invalid_argument, "slogdet",
              [] { sn::slogdet(sn::ones({2, 2}, {sn::DType::i64, {}})); });
}
