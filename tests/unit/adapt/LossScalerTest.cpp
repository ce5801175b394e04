/// Loss scaling against PyTorch's GradScaler, and steps that are skipped on the
/// device.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/optim/Adam.h>
#include <sinter/optim/Clip.h>
#include <sinter/optim/Sgd.h>
#include <sinter/train/MixedPrecision.h>

#include <cmath>
#include <cstdio>
#include <limits>

namespace sn = sinter;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Of the goldens: what the loss of a step is multiplied by.
double factorOf(int step) {
  if (step == 1 || step == 6)
    return infinity;
  return step == 7 ? std::nan("") : 1;
}

sn::Tensor lossOf(const sn::Param &p, int step) {
  sn::Tensor difference = p - 0.5;
  return sn::sum(difference * difference * sn::scalar(factorOf(step)));
}

} // namespace

TEST(LossScaler, HasTheScalesOfGradScalerAndAdamsSteps) {
  sn::Param p(sn::tensor({1.f, -2.f, 3.f}), "p");
  sn::optim::Adam adam({.lr = 0.1});
  sn::train::LossScaler scaler({.init_scale = 8, .growth_interval = 3});
  std::vector<double> scales, values;
  for (int step = 0; step < 12; ++step) {
    scaler.step(adam, p, scaler.scaled(lossOf(p, step)).backward());
    scales.push_back(scaler.scale.tensor().item<double>());
    for (double value : p.tensor().to_vector<double>())
      values.push_back(value);
  }
  expectValues(scales, golden::scales, 0);
  expectValues(values, golden::scaledAdam, 2e-6);
}

TEST(LossScaler, TakenOrSkippedIsOneProgramAndReadsNothing) {
  sn::nn::Linear model(4, 3);
  sn::optim::Adam adam({.lr = 0.1});
  sn::train::LossScaler scaler({.init_scale = 8, .growth_interval = 3});
  sn::Tensor loss;
  auto step = [&](double factor) {
    sn::Tensor y = model(waves({5, 4}, 0.3)) * sn::scalar(factor);
    loss = sn::mean(y * y);
    scaler.step(adam, model, scaler.scaled(loss).backward());
  };
  auto evaluated = [&](double factor) {
    step(factor);
    loss.item<float>();
  };
  evaluated(1);
  evaluated(1);
  for (double factor : {1.0, infinity, 1.0, std::nan(""), 1.0, 1.0, 1.0}) {
    Counts recorded = countsOf([&] { step(factor); });
    EXPECT_EQ(recorded.runs, 0u) << factor;
    Counts counts = countsOf([&] { loss.item<float>(); });
    EXPECT_EQ(counts.runs, 1u) << factor;
    EXPECT_EQ(counts.programs, 0u) << factor;
    EXPECT_EQ(counts.refused, 0u) << factor;
  }
  for (float value : model.weight.tensor().to_vector<float>())
    EXPECT_TRUE(std::isfinite(value));
}

TEST(LossScaler, GrowsUpToTheLastFiniteScale) {
  sn::Param p(sn::tensor({1.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.0});
  float large = std::ldexp(1.f, 126);
  sn::train::LossScaler scaler({.init_scale = large, .growth_interval = 1});
  for (int i = 0; i < 3; ++i)
    scaler.step(sgd, p, (scaler.scaled(sn::sum(p)) * 0).backward());
  EXPECT_EQ(scaler.scale.tensor().item<float>(), 2 * large);
}

TEST(LossScaler, ClippedGradientsAndSeveralOptimizers) {
  sn::Param p(sn::tensor({3.f, 4.f}), "p"), q(sn::tensor({1.f}), "q");
  sn::optim::Sgd first({.lr = 1}), second({.lr = 1, .momentum = 0.5});
  sn::train::LossScaler scaler({.init_scale = 1024});
  sn::Tensor loss = sn::sum(p * p) / 2 + sn::sum(q);
  auto [gradients, finite] = scaler.unscaled(scaler.scaled(loss).backward());
  sn::Tensor norm = sn::optim::clip_grad_norm(gradients, 1);
  sn::Gradients copy = gradients;
  first.step_if(finite, p, std::move(gradients));
  second.step_if(finite, q, std::move(copy));
  scaler.update(finite);
  EXPECT_NEAR(norm.item<double>(), std::sqrt(26), 1e-4);
  EXPECT_NEAR(p.tensor().to_vector<float>()[1], 4 - 4 / std::sqrt(26), 1e-4);
  EXPECT_NEAR(q.tensor().item<double>(), 1 - 1 / std::sqrt(26), 1e-4);
}

TEST(LossScaler, HalvesThatWouldVanish) {
  sn::nn::Linear model(1, 1, {.bias = false});
  model.weight.set(sn::full({1, 1}, 1.0));
  auto gradientOf = [&](double scale) {
    sn::train::LossScaler scaler({.init_scale = scale});
    sn::Tensor y = [&] {
      sn::train::autocast scope(sn::DType::f16);
      return model(sn::full({1, 1}, 1e-4));
    }();
    sn::Tensor loss = sn::sum(y.to(sn::DType::f32) * 1e-5);
    return scaler.unscaled(scaler.scaled(loss).backward())
        .gradients(model.weight)
        .item<double>();
  };
  EXPECT_NEAR(gradientOf(65536), 1e-9, 2e-12);
  EXPECT_GT(std::abs(gradientOf(1) - 1e-9), 1e-10); // of few bits, or 0
}

TEST(LossScaler, FilesHoldScaleAndCount) {
  std::string file = testing::TempDir() + "/scaler.safetensors";
  sn::train::LossScaler scaler({.init_scale = 8, .growth_interval = 3});
  sn::Param p(sn::tensor({1.f}), "p");
  sn::optim::Sgd sgd({.lr = 0.1});
  for (int i = 0; i < 4; ++i)
    scaler.step(sgd, p, scaler.scaled(lossOf(p, 0)).backward());
  scaler.save(file);
  sn::train::LossScaler other({.init_scale = 2, .growth_interval = 3});
  other.load(file);
  EXPECT_EQ(other.scale.tensor().item<float>(), 16);
  EXPECT_EQ(other.growth_tracker.tensor().item<int64_t>(), 1);
  std::remove(file.c_str());
}

TEST(LossScaler, Rejects) {
  using Options = sn::train::LossScalerOptions;
  auto rejects = [](Options options, std::string_view part) {
    expectRejected("loss_scaler", part,
                   [&] { sn::train::LossScaler scaler(options); });
  };
  rejects({.init_scale = 0}, "init_scale");
  rejects({.growth_factor = 1}, "growth_factor");
  rejects({.backoff_factor = 1}, "backoff_factor");
  rejects({.growth_interval = 0}, "growth_interval");
  sn::train::LossScaler scaler;
  expectRejected("loss_scaler", "no gradients",
                 [&] { scaler.unscaled(sn::Gradients()); });
  expectRejected("loss_scaler", "bool", [&] { scaler.update(sn::ones({})); });
}

//===- Steps that may be skipped ------------------------------------------===//

TEST(StepIf, IsTheStepOrNothing) {
  sn::Param a(sn::tensor({1.f, 2.f}), "p");
  sn::Param b = a;
  sn::optim::Adam adam({.lr = 0.1}), other({.lr = 0.1});
  auto gradients = [](sn::Param &p) { return sn::sum(p * p).backward(); };
  auto yes = sn::full({}, true), no = sn::full({}, false);
  for (int i = 0; i < 5; ++i) {
    adam.step(a, gradients(a));
    other.step_if(yes, b, gradients(b));
    std::vector<float> before = b.tensor().to_vector<float>();
    other.step_if(no, b, gradients(b));
    EXPECT_EQ(b.tensor().to_vector<float>(), before);
    EXPECT_EQ(a.tensor().to_vector<float>(), before);
  }
  adam.step(a, gradients(a));
  other.step(b, gradients(b)); // goes on counting what was taken
  EXPECT_EQ(a.tensor().to_vector<float>(), b.tensor().to_vector<float>());
}

TEST(StepIf, ParametersThatAreLeftOutCountTheirOwnSteps) {
  std::vector<sn::Param> both{sn::Param(sn::tensor({1.f}), "a"),
                              sn::Param(sn::tensor({1.f}), "b")};
  std::vector<sn::Param> wanted = both;
  sn::optim::Adam adam({.lr = 0.1}), plain({.lr = 0.1});
  auto yes = sn::full({}, true), no = sn::full({}, false);
  auto two = [](auto &params) {
    return (sn::sum(params[0]) * 2 + sn::sum(params[1])).backward();
  };
  auto one = [](auto &params) {
    return sn::sum(params[0] * params[0]).backward();
  };
  adam.step_if(yes, both, two(both));
  adam.step_if(no, both[0], one(both));
  adam.step_if(yes, both[0], one(both));
  adam.step_if(no, both, two(both));
  adam.step_if(yes, both, two(both));
  plain.step(wanted, two(wanted));
  plain.step(wanted[0], one(wanted));
  plain.step(wanted, two(wanted));
  for (size_t i = 0; i < 2; ++i)
    EXPECT_FLOAT_EQ(both[i].tensor().item<float>(),
                    wanted[i].tensor().item<float>());
}

TEST(StepIf, FilesHoldTheStepsThatWereTaken) {
  std::string file = testing::TempDir() + "/adam.safetensors";
  sn::Param p(sn::tensor({1.f, 2.f}), "p");
  auto gradients = [](sn::Param &p) { return sn::sum(p * p).backward(); };
  sn::optim::Adam adam({.lr = 0.1});
  adam.step_if(sn::full({}, true), p, gradients(p));
  adam.step_if(sn::full({}, false), p, gradients(p));
  adam.save(file);
  sn::Param q = p;
  sn::optim::Adam other({.lr = 0.1});
  other.load(q, file);
  adam.step_if(sn::full({}, true), p, gradients(p));
  other.step(q, gradients(q));
  EXPECT_EQ(p.tensor().to_vector<float>(), q.tensor().to_vector<float>());
  std::remove(file.c_str());
}

TEST(StepIf, Rejects) {
  sn::Param p(sn::tensor({1.f, 2.f}), "p");
  auto gradients = [&] { return sn::sum(p * p).backward(); };
  sn::optim::Sgd sgd;
  expectRejected("step_if", "no bool",
                 [&] { sgd.step_if(sn::ones({}), p, gradients()); });
  expectRejected("step_if", "no bool",
                 [&] { sgd.step_if(sn::Tensor(), p, gradients()); });
  sn::optim::NAdam nadam;
  sn::optim::RAdam radam;
  auto yes = sn::full({}, true);
  expectRejected("step_if", "nadam",
                 [&] { nadam.step_if(yes, p, gradients()); });
  expectRejected("step_if", "radam",
                 [&] { radam.step_if(yes, p, gradients()); });
  nadam.step(p, gradients()); // as ever
}
