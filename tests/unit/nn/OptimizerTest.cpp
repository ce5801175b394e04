/// Optimizers against their formulas in double precision on the host.
#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>
#include <sinter/optim/Adam.h>
#include <sinter/optim/Sgd.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace sn = sinter;
using Values = std::vector<double>;

namespace {

const Values start = {1, -2, 3};
const Values target = {0.5, 1, -1};

/// The gradient of sum((p - target)^2).
Values gradientAt(const Values &p) {
  Values g;
  for (size_t i = 0; i < p.size(); ++i)
    g.push_back(2 * (p[i] - target[i]));
  return g;
}

sn::Tensor lossOf(const sn::Param &param) {
  sn::Tensor t = sn::tensor(target, {3}, {.dtype = param.dtype()});
  sn::Tensor difference = param - t;
  return sn::sum(difference * difference);
}

/// Steps both the optimizer and the formula, comparing after each step.
void compare(
    sn::optim::Optimizer &optimizer, sn::DType dtype, double tolerance,
    const std::function<void(Values &, const Values &, int)> &formula) {
  sn::Param param(sn::tensor(start, {3}, {.dtype = dtype}), "p");
  Values expected = start;
  for (int step = 1; step <= 10; ++step) {
    optimizer.step(param, lossOf(param).backward());
    formula(expected, gradientAt(expected), step);
    Values actual = param.tensor().to_vector<double>();
    for (size_t i = 0; i < 3; ++i)
      ASSERT_NEAR(actual[i], expected[i], tolerance) << "step " << step;
  }
}

} // namespace

TEST(Sgd, Plain) {
  sn::optim::Sgd sgd({.lr = 0.1});
  compare(sgd, sn::DType::f64, 1e-12, [](Values &p, const Values &g, int) {
    for (size_t i = 0; i < p.size(); ++i)
      p[i] -= 0.1 * g[i];
  });
}

TEST(Sgd, MomentumAndDecay) {
  sn::optim::Sgd sgd({.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01});
  Values v(3);
  compare(sgd, sn::DType::f64, 1e-12, [&](Values &p, const Values &g, int) {
    for (size_t i = 0; i < p.size(); ++i) {
      v[i] = 0.9 * v[i] + g[i] + 0.01 * p[i];
      p[i] -= 0.05 * v[i];
    }
  });
}

TEST(Sgd, Nesterov) {
  sn::optim::Sgd sgd({.lr = 0.05, .momentum = 0.8, .nesterov = true});
  Values v(3);
  compare(sgd, sn::DType::f64, 1e-12, [&](Values &p, const Values &g, int) {
    for (size_t i = 0; i < p.size(); ++i) {
      v[i] = 0.8 * v[i] + g[i];
      p[i] -= 0.05 * (g[i] + 0.8 * v[i]);
    }
  });
}

static void adamFormula(Values &p, const Values &g, int step, Values &m,
                        Values &v, double lr, double decay) {
  for (size_t i = 0; i < p.size(); ++i) {
    double gradient = g[i] + decay * p[i];
    m[i] = 0.9 * m[i] + 0.1 * gradient;
    v[i] = 0.999 * v[i] + 0.001 * gradient * gradient;
    double mean = m[i] / (1 - std::pow(0.9, step));
    double square = v[i] / (1 - std::pow(0.999, step));
    p[i] -= lr * mean / (std::sqrt(square) + 1e-8);
  }
}

TEST(Adam, F64) {
  sn::optim::Adam adam({.lr = 0.1});
  Values m(3), v(3);
  compare(adam, sn::DType::f64, 1e-12,
          [&](Values &p, const Values &g, int step) {
            adamFormula(p, g, step, m, v, 0.1, 0);
          });
}

TEST(Adam, F32WithDecay) {
  sn::optim::Adam adam({.lr = 0.1, .weight_decay = 0.1});
  Values m(3), v(3);
  compare(adam, sn::DType::f32, 1e-5,
          [&](Values &p, const Values &g, int step) {
            adamFormula(p, g, step, m, v, 0.1, 0.1);
          });
}

TEST(Adam, Bf16KeepsItsMomentsInF32) {
  sn::optim::Adam adam({.lr = 0.1});
  Values m(3), v(3);
  compare(adam, sn::DType::bf16, 0.06,
          [&](Values &p, const Values &g, int step) {
            adamFormula(p, g, step, m, v, 0.1, 0);
          });
}

/// Gradients that are large once, so that the largest mean of squares is not
/// the last one.
TEST(Adam, AmsgradKeepsTheLargestSquare) {
  const double gradients[] = {10, 0.1, -0.2, 0.1, 0.05, 3, 0.1};
  sn::Param param(sn::tensor({1.0}), "p");
  sn::optim::Adam adam({.lr = 0.1, .beta2 = 0.5, .amsgrad = true});
  double expected = 1, m = 0, v = 0, largest = 0;
  for (int step = 1; double g : gradients) {
    adam.step(param, sn::sum(param * g).backward());
    m = 0.9 * m + 0.1 * g;
    v = 0.5 * v + 0.5 * g * g;
    largest = std::max(largest, v);
    double size = std::sqrt(largest / (1 - std::pow(0.5, step)));
    expected -= 0.1 * m / (1 - std::pow(0.9, step)) / (size + 1e-8);
    EXPECT_NEAR(param.tensor().item<double>(), expected, 1e-12) << step;
    ++step;
  }
}

TEST(AdamW, DecaysByTheRateOfTheStep) {
  sn::Param param(sn::tensor({2.0}), "p");
  sn::optim::AdamW adamw({.lr = 0.1, .weight_decay = 0.5});
  double expected = 2;
  for (double rate : {0.1, 0.02, 0.4}) {
    adamw.set_lr(rate);
    adamw.step(param, sn::sum(param * 0.0).backward());
    expected *= 1 - rate * 0.5;
    EXPECT_NEAR(param.tensor().item<double>(), expected, 1e-12) << rate;
  }
}

TEST(Optimizer, RateMayChange) {
  sn::Param param(sn::tensor({1.f}), "p");
  sn::optim::Sgd sgd({.lr = 1});
  sgd.set_lr(0.25);
  EXPECT_EQ(sgd.lr(), 0.25);
  sgd.step(param, sn::sum(param * 2).backward());
  EXPECT_EQ(param.tensor().item<float>(), 0.5f);
}

TEST(Optimizer, NumbersThatHappenToBeEqualCompileNothing) {
  sn::Param p(sn::tensor({1.f, 2.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.5});
  uint64_t compiles = 0;
  for (double rate : {0.1, 0.5, 0.3}) { // 0.5 is the momentum, too
    sgd.set_lr(rate);
    sgd.step(p, sn::sum(p * p).backward());
    p.tensor().eval();
    if (rate == 0.1)
      compiles = sn::stats().compiles;
  }
  EXPECT_EQ(sn::stats().compiles, compiles);
}

TEST(Optimizer, SkipsWhatHasNoGradient) {
  struct {
    sn::Param used{"used", {1}, sn::init::ones()};
    sn::Param unused{"unused", {1}, sn::init::ones()};
    sn::Param frozen{"frozen", {1}, sn::init::ones()};
  } model;
  model.frozen.require_grad(false);
  std::vector<sn::Param> all;
  all.push_back(std::move(model.used));
  all.push_back(std::move(model.unused));
  all.push_back(std::move(model.frozen));
  sn::optim::Sgd sgd({.lr = 0.5});
  sgd.step(all, sn::sum(all[0] * all[2]).backward());
  EXPECT_EQ(all[0].tensor().item<float>(), 0.5f);
  EXPECT_EQ(all[1].tensor().item<float>(), 1);
  EXPECT_EQ(all[2].tensor().item<float>(), 1);
}

TEST(Optimizer, NoGradientAtAllIsAnError) {
  sn::nn::Linear model(2, 2), other(2, 2);
  sn::optim::Adam adam;
  sn::Gradients grads = sn::sum(other(sn::ones({1, 2}))).backward();
  try {
    adam.step(model, std::move(grads));
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    EXPECT_NE(error.site().find("OptimizerTest.cpp"), std::string::npos);
  }
}

TEST(Optimizer, TiedParametersMoveOnce) {
  std::vector<sn::Param> both = {sn::Param(sn::tensor({1.f}), "a"),
                                 sn::Param(sn::tensor({1.f}), "b")};
  both[1].tie(both[0]);
  sn::optim::Sgd sgd({.lr = 0.1});
  // d/dp (p * p) = 2p
  sgd.step(both, sn::sum(both[0] * both[1]).backward());
  EXPECT_FLOAT_EQ(both[0].tensor().item<float>(), 0.8f);
  EXPECT_FLOAT_EQ(both[1].tensor().item<float>(), 0.8f);
}

TEST(Optimizer, CopiesHaveStateOfTheirOwn) {
  sn::Param a(sn::tensor({1.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.5});
  sgd.step(a, sn::sum(a * 1.f).backward());
  sn::Param b = a;
  sgd.step(b, sn::sum(b * 1.f).backward()); // no velocity yet
  sgd.step(a, sn::sum(a * 1.f).backward());
  EXPECT_FLOAT_EQ(b.tensor().item<float>(), 0.8f);
  EXPECT_FLOAT_EQ(a.tensor().item<float>(), 0.75f);
}

TEST(Optimizer, KeptGradientsStayReadable) {
  sn::Param param(sn::tensor({1.f, 2.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.5});
  sn::Gradients grads = sn::sum(param * param).backward();
  sgd.step(param, grads);
  EXPECT_EQ(param.tensor().to_vector<float>(), (std::vector<float>{0, 0}));
  EXPECT_EQ(grads(param).to_vector<float>(), (std::vector<float>{2, 4}));
}

TEST(Optimizer, AveragedStepsUnderNoGrad) {
  sn::Param param(sn::tensor({1.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.5});
  sgd.step(param, sn::sum(param * 1.f).backward());
  EXPECT_TRUE(param.tensor().requires_grad());
  sgd.step(param, sn::sum(param * 1.f).backward());
  EXPECT_EQ(param.tensor().item<float>(), 0);
}
