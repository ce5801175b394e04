/// Clipping and accumulation of gradients.
#include "tests/unit/nn/Modules.h"

#include <limits>

namespace sn = sinter;
namespace optim = sn::optim;
using Values = std::vector<float>;

namespace {
/// Two parameters with gradients [3, 0] and [0, -4, 0].
struct Clip : testing::Test {
  std::vector<sn::Param> params = {sn::Param(sn::tensor({1.f, 2.f}), "a"),
                                   sn::Param(sn::tensor({1.f, 2.f, 3.f}), "b")};
  sn::Gradients gradients = gradientsOf();

  sn::Gradients gradientsOf() const {
    sn::Tensor a = params[0] * sn::tensor({3.f, 0.f});
    sn::Tensor b = params[1] * sn::tensor({0.f, -4.f, 0.f});
    return (sn::sum(a) + sn::sum(b)).backward();
  }
  Values first() const { return gradients(params[0]).to_vector<float>(); }
  Values second() const { return gradients(params[1]).to_vector<float>(); }
};
} // namespace

TEST_F(Clip, ByTheNormOfAll) {
  EXPECT_FLOAT_EQ(optim::clip_grad_norm(gradients, 1).item<float>(), 5);
  EXPECT_NEAR(first()[0], 0.6, 1e-6);
  EXPECT_NEAR(second()[1], -0.8, 1e-6);
}

TEST_F(Clip, SmallNormsStay) {
  optim::clip_grad_norm(gradients, 100);
  EXPECT_EQ(first(), (Values{3, 0}));
  EXPECT_EQ(second(), (Values{0, -4, 0}));
}

TEST_F(Clip, OtherNorms) {
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FLOAT_EQ(optim::grad_norm(gradients, 1).item<float>(), 7);
  EXPECT_FLOAT_EQ(optim::grad_norm(gradients, infinity).item<float>(), 4);
  EXPECT_NEAR(optim::grad_norm(gradients, 3).item<float>(), std::cbrt(91.0),
              1e-5);
}

TEST_F(Clip, EachByItsOwnNorm) {
  optim::clip_each_grad_norm(gradients, 3.5);
  EXPECT_EQ(first(), (Values{3, 0}));
  EXPECT_NEAR(second()[1], -3.5, 1e-5);
}

TEST_F(Clip, ByValue) {
  optim::clip_grad_value(gradients, 2);
  EXPECT_EQ(first(), (Values{2, 0}));
  EXPECT_EQ(second(), (Values{0, -2, 0}));
}

TEST_F(Clip, HalfPrecisionIsSummedWide) {
  sn::Param param(sn::full({2}, 1.f, {.dtype = sn::DType::f16}), "p");
  sn::Gradients own = sn::sum(param * 300.f).backward();
  sn::Tensor norm = optim::clip_grad_norm(own, 1);
  EXPECT_NEAR(norm.item<float>(), 300 * std::sqrt(2.f), 0.5);
  EXPECT_EQ(own(param).dtype(), sn::DType::f16);
  EXPECT_NEAR(own(param).to_vector<float>()[0], std::sqrt(0.5), 1e-3);
}

TEST_F(Clip, AClippedStepIsOneProgramForEveryLimit) {
  sn::nn::Linear model(3, 2);
  optim::Adam adam;
  auto step = [&](double limit) {
    sn::Tensor y = model(waves({4, 3}, 0.7));
    sn::Gradients own = sn::sum(y * y).backward();
    sn::Tensor norm = optim::clip_grad_norm(own, limit);
    adam.step(model, std::move(own));
    model.weight.tensor().eval();
    return norm;
  };
  step(1).item<float>();
  // The norm of what the step replaces is found with it.
  Work work = workOf([&] { step(0.3).item<float>(); });
  EXPECT_EQ(work.runs, 1u);
  EXPECT_EQ(work.programs, 0u);
}

TEST_F(Clip, AccumulatedGradientsAreOneStepOfTheirSum) {
  optim::Sgd sgd({.lr = 0.5});
  params[0].tensor().eval();
  Work work = workOf([&] {
    sn::Gradients sum = gradientsOf();
    for (int i = 0; i < 3; ++i)
      sum.accumulate(gradientsOf());
    sgd.step(params, std::move(sum));
    params[0].tensor().eval();
  });
  EXPECT_EQ(work.runs, 1u);
  EXPECT_EQ(params[0].tensor().to_vector<float>(), (Values{-5, 2}));
  EXPECT_EQ(params[1].tensor().to_vector<float>(), (Values{1, 10, 3}));
}

TEST_F(Clip, ErrorsNameTheFunctionAndTheLine) {
  expectRejected("clip_grad_norm", "max_norm",
                 [&] { optim::clip_grad_norm(gradients, -1); });
  expectRejected("clip_grad_value", "the limit",
                 [&] { optim::clip_grad_value(gradients, std::nan("")); });
  sn::Gradients none;
  expectRejected("grad_norm", "no gradients",
                 [&] { optim::clip_grad_norm(none, 1); });
  expectRejected("grad_norm", "p is 0",
                 [&] { optim::grad_norm(gradients, 0); });
}
