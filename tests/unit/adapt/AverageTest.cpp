/// Averages of models, against PyTorch's AveragedModel.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/nn/Sequential.h>
#include <sinter/optim/Sgd.h>
#include <sinter/train/Average.h>
#include <sinter/train/Freeze.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

namespace sn = sinter;

namespace {

/// Five steps of the goldens, with an update after each.
template <typename Average> void trainFive(Average &average, Normed &model) {
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.9});
  for (int batch = 0; batch < 5; ++batch) {
    sgd.step(model, normedLoss(model, batch).backward());
    average.update(model);
  }
}

std::vector<sn::Tensor> batches() {
  std::vector<sn::Tensor> all;
  for (int batch = 0; batch < 5; ++batch)
    all.push_back(waves({4, 2}, 0.31 + 0.2 * batch));
  return all;
}

} // namespace

TEST(Ema, IsTorchsAveragedModel) {
  Normed model;
  sn::train::Ema ema(model, 0.9);
  trainFive(ema, model);
  expectValues(valuesOf(ema.model()), golden::ema);
  EXPECT_EQ(ema.num_updates.tensor().item<int64_t>(), 5);
}

TEST(Ema, BuffersMayBeAveragedToo) {
  Normed model;
  sn::train::Ema ema(model, 0.9, {.average_buffers = true});
  trainFive(ema, model);
  expectValues(valuesOf(ema.model()), golden::emaWithBuffers);
}

TEST(Swa, IsTorchsAveragedModel) {
  Normed model;
  sn::train::Swa swa(model);
  trainFive(swa, model);
  expectValues(valuesOf(swa.model()), golden::swa);
}

TEST(Swa, StatisticsAreThoseOfALoader) {
  Normed model;
  sn::train::Swa swa(model);
  trainFive(swa, model);
  std::vector<sn::Tensor> loader = batches();
  swa.update_bn(loader);
  expectValues(valuesOf(swa.model()), golden::swaWithStatistics);
  EXPECT_FALSE(swa.model().norm.mode.training);
  EXPECT_TRUE(model.norm.mode.training);
  std::vector<std::pair<sn::Tensor, int>> labeled;
  for (const sn::Tensor &batch : loader)
    labeled.emplace_back(batch, 0);
  swa.update_bn(labeled);
  expectValues(valuesOf(swa.model()), golden::swaWithStatistics);
}

TEST(Swa, WithoutStatisticsALoaderIsNotAsked) {
  sn::nn::Linear model(2, 2);
  sn::train::Swa swa(model);
  std::vector<sn::Tensor> loader{sn::ones({1, 3})}; // would not fit
  swa.update_bn(loader);
}

TEST(Ema, WarmupRisesToTheDecay) {
  sn::nn::Linear one(1, 1, {.bias = false});
  one.weight.set(sn::zeros({1, 1}));
  sn::train::Ema ema(one, 0.25, {.warmup = true});
  double expected = 0;
  for (int n = 0; n < 6; ++n) {
    one.weight.set(sn::full({1, 1}, n + 1.0));
    ema.update(one);
    double decay = std::min(0.25, (1.0 + n) / (10.0 + n));
    expected = n == 0 ? 1 : decay * expected + (1 - decay) * (n + 1);
    EXPECT_NEAR(ema.model().weight.tensor().item<double>(), expected, 1e-5);
  }
}

TEST(Ema, IsPartOfTheStepsProgramWithoutALaunchPerParameter) {
  auto step = [](auto &model, sn::optim::Sgd &sgd, auto average) {
    sn::Tensor loss = sn::mean(model(waves({8, 4}, 0.3)));
    sgd.step(model, loss.backward());
    average(model);
    loss.item<float>();
  };
  Mlp plain, averaged;
  sn::optim::Sgd sgd({.lr = 0.1}), other({.lr = 0.1});
  sn::train::Ema ema(averaged, 0.9);
  auto none = [](const Mlp &) {};
  auto update = [&](const Mlp &model) { ema.update(model); };
  for (int i = 0; i < 3; ++i) {
    step(plain, sgd, none);
    step(averaged, other, update);
  }
  Counts without = countsOf([&] { step(plain, sgd, none); });
  Counts with = countsOf([&] { step(averaged, other, update); });
  EXPECT_EQ(without.runs, 1u);
  EXPECT_EQ(with.runs, 1u);
  EXPECT_EQ(with.programs, 0u);
  EXPECT_EQ(with.refused, without.refused);
  // Four parameters are averaged.
  EXPECT_LE(with.launches, without.launches + 1);
  RecordProperty("launches_without", int(without.launches));
  RecordProperty("launches_with", int(with.launches));
  std::printf("launches of a step: %d, with an average of 4 parameters: %d\n",
              int(without.launches), int(with.launches));
}

TEST(Ema, EveryUpdateIsTheSameProgram) {
  Normed model;
  sn::train::Ema ema(model, 0.9);
  sn::optim::Sgd sgd({.lr = 0.1, .momentum = 0.9});
  auto step = [&](int batch) {
    sn::Tensor loss = normedLoss(model, batch);
    sgd.step(model, loss.backward());
    ema.update(model);
    loss.item<float>();
  };
  step(0);
  step(1);
  for (int batch = 2; batch < 5; ++batch) {
    Counts counts = countsOf([&] { step(batch); });
    EXPECT_EQ(counts.runs, 1u) << batch;
    EXPECT_EQ(counts.programs, 0u) << batch;
  }
  expectValues(valuesOf(ema.model()), golden::ema);
}

TEST(Ema, AppliesToACopy) {
  Normed model;
  sn::train::Ema ema(model, 0.9);
  trainFive(ema, model);
  Normed copy = ema.apply(model);
  expectValues(valuesOf(copy), golden::ema);
  EXPECT_TRUE(copy.norm.mode.training);
  EXPECT_TRUE(copy.fc.weight.requires_grad());
  EXPECT_FALSE(ema.model().fc.weight.requires_grad());
  ema.update(model);
  expectValues(valuesOf(copy), golden::ema);
}

TEST(Ema, FrozenParametersAreSharedWithoutWork) {
  Mlp model;
  sn::train::freeze(model, "fc1");
  sn::train::Ema ema(model, 0.9);
  sn::optim::Sgd sgd({.lr = 0.1});
  for (int i = 0; i < 2; ++i) {
    sgd.step(model, sn::mean(model(waves({8, 4}, 0.3))).backward());
    ema.update(model);
  }
  EXPECT_EQ(ema.model().fc1.weight.tensor().to_vector<float>(),
            model.fc1.weight.tensor().to_vector<float>());
  EXPECT_NE(ema.model().fc2.weight.tensor().to_vector<float>(),
            model.fc2.weight.tensor().to_vector<float>());
}

TEST(Ema, FilesHoldTheAverageAndItsCount) {
  std::string file = testing::TempDir() + "/ema.safetensors";
  Normed model;
  sn::train::Ema ema(model, 0.9);
  trainFive(ema, model);
  ema.save(file);
  sn::train::Ema other(model, 0.9);
  other.load(file);
  EXPECT_EQ(valuesOf(other), valuesOf(ema));
  EXPECT_EQ(other.num_updates.tensor().item<int64_t>(), 5);
  std::remove(file.c_str());
}

TEST(Ema, RejectsWhatItCannotAverage) {
  sn::nn::Linear model(2, 2), other(2, 3);
  for (double decay : {-0.1, 1.0, std::nan("")})
    expectRejected("ema", "decay", [&] { sn::train::Ema ema(model, decay); });
  sn::train::Ema ema(model, 0.5);
  expectRejected("average", "'weight'", [&] { ema.update(other); });
  sn::nn::Sequential nothing((sn::nn::ReLU()));
  expectRejected("average", "no parameter",
                 [&] { sn::train::Swa swa(nothing); });
}
