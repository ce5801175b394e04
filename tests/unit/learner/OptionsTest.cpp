/// What a Learner does beside the loop: few bits, averages, gradients of
/// several batches. Each is what the parts would do by themselves, bit for bit,
/// and goes on to the same bits wherever the run ends.
#include "tests/unit/learner/Folder.h"
#include "tests/unit/learner/Spirals.h"

#include <sinter/optim/Clip.h>
#include <sinter/train/Accumulate.h>
#include <sinter/train/Average.h>
#include <sinter/train/MixedPrecision.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

using namespace spirals;
using namespace testing;
namespace train = sinter::train;

namespace {

class Options : public FolderTest {
protected:
  /// Everything that ends up somewhere.
  struct Made {
    Training run = begun();
    train::Ema<Net> ema{run.net, 0.9};
    train::Swa<Net> swa{run.net};
    train::Outcome outcome;

    std::vector<float> numbers() const {
      std::vector<float> all = numbersOf(run.net);
      for (const Net *net : {&ema.model(), &swa.model()}) {
        std::vector<float> more = numbersOf(*net);
        all.insert(all.end(), more.begin(), more.end());
      }
      return all;
    }
  };
  using Set = std::function<void(train::LearnerOptions &)>;

  static void fit(Made &made, const train::LearnerOptions &options) {
    train::Learner learner(made.run.net, made.run.adam, step, options);
    learner.average(made.ema)
        .average(made.swa, {.from_epoch = 2, .by_epoch = true})
        .schedule(sn::optim::step_lr({.step_size = 5}))
        .metric(sn::metrics::MeanLoss());
    made.outcome = learner.fit(made.run.loader, made.run.valid);
  }

  /// Ends a run at each of these steps and goes on.
  void expectResumes(const Set &set, std::initializer_list<int64_t> steps) {
    train::LearnerOptions options{.epochs = 3};
    set(options);
    Made whole;
    fit(whole, options);
    options.folder = folder;
    for (int64_t at : steps) {
      std::filesystem::remove_all(folder);
      Made first;
      train::LearnerOptions until = options;
      until.max_steps = at;
      fit(first, until);
      Made second;
      // What was drawn since then is no part of the run.
      sn::manual_seed(99);
      fit(second, options);
      EXPECT_EQ(second.outcome.resumed_from, at);
      EXPECT_EQ(second.numbers(), whole.numbers()) << at;
      EXPECT_EQ(second.outcome("loss"), whole.outcome("loss")) << at;
    }
  }
};

sn::Tensor lossOf(const Net &net, const Batch &batch) {
  return step(net, batch).loss;
}

double maximumOf(const std::vector<float> &a, const std::vector<float> &b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, double(std::abs(a[i] - b[i])));
  return most;
}

} // namespace

//===- Few bits -----------------------------------------------------------===//

TEST_F(Options, ProductsAreInBf16AndParametersAreNot) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.epochs = 2, .autocast = sn::DType::bf16});
  learner.fit(run.loader);
  EXPECT_EQ(run.net.fc1.weight.dtype(), sn::DType::f32);
  Training bare = begun();
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    for (Batch &batch : bare.loader) {
      sn::Tensor loss = [&] {
        train::autocast scope(sn::DType::bf16);
        return lossOf(bare.net, batch);
      }();
      bare.adam.step(bare.net, loss.backward());
      loss.eval();
    }
  EXPECT_EQ(numbersOf(run.net), numbersOf(bare.net));
  Training full = begun();
  train::Learner(full.net, full.adam, step, {.epochs = 2}).fit(full.loader);
  EXPECT_NE(numbersOf(run.net), numbersOf(full.net));
}

TEST_F(Options, ValidationIsInFewBitsToo) {
  auto loss = [](std::optional<sn::DType> dtype) {
    Training run = begun();
    train::Learner learner(run.net, run.adam, step, {.autocast = dtype});
    learner.metric(sn::metrics::MeanLoss());
    return learner.evaluate(run.valid)("loss");
  };
  EXPECT_NE(loss(sn::DType::bf16), loss({}));
  EXPECT_NEAR(loss(sn::DType::bf16), loss({}), 0.02);
  EXPECT_FALSE(train::autocast_dtype());
}

TEST_F(Options, LossesOfF16AreScaled) {
  train::LossScalerOptions scale{.init_scale = 1e9, .growth_interval = 4};
  Training run = begun();
  train::Learner learner(
      run.net, run.adam, step,
      {.epochs = 3, .autocast = sn::DType::f16, .loss_scale = scale});
  std::vector<double> scales;
  learner.on([&](const train::EpochEnd &epoch) {
    for (const train::Value &value : epoch.values)
      if (value.name == "loss scale")
        scales.push_back(value.value);
  });
  learner.fit(run.loader);
  Training bare = begun();
  train::LossScaler scaler(scale);
  for (int64_t epoch = 0; epoch < 3; ++epoch)
    for (Batch &batch : bare.loader) {
      sn::Tensor loss = [&] {
        train::autocast scope(sn::DType::f16);
        return lossOf(bare.net, batch);
      }();
      scaler.step(bare.adam, bare.net, scaler.scaled(loss).backward());
      loss.eval();
    }
  EXPECT_EQ(numbersOf(run.net), numbersOf(bare.net));
  ASSERT_EQ(scales.size(), 3U);
  EXPECT_LT(scales.back(), 1e9) << "steps were left out";
  EXPECT_EQ(scales.back(), scaler.scale.tensor().item<double>());
}

TEST_F(Options, AScaledStepIsOneProgram) {
  Training run = begun();
  train::LearnerOptions options{.epochs = 1, .autocast = sn::DType::f16};
  train::Ema ema(run.net, 0.9);
  train::Learner learner(run.net, run.adam, step, options);
  learner.average(ema);
  learner.fit(run.loader);
  sn::reset_stats();
  learner.fit(run.loader);
  EXPECT_EQ(sn::stats().programs_run, 6U);
}

TEST_F(Options, ALossScaleGoesOn) {
  expectResumes(
      [](train::LearnerOptions &options) {
        options.autocast = sn::DType::f16;
        options.loss_scale = {{.init_scale = 1e9, .growth_interval = 4}};
      },
      {1, 4, 7, 13});
}

TEST_F(Options, ACheckpointWithoutALossScaleIsWarnedOf) {
  Made first;
  fit(first, {.folder = folder, .epochs = 1});
  Training run = begun();
  train::Ema ema(run.net, 0.9);
  train::Swa swa(run.net);
  train::Learner learner(
      run.net, run.adam, step,
      {.folder = folder, .epochs = 2, .autocast = sn::DType::f16});
  learner.average(ema).average(swa).schedule(
      sn::optim::step_lr({.step_size = 5}));
  learner.metric(sn::metrics::MeanLoss());
  std::string told;
  learner.on([&](const train::Message &message) { told += message.text; });
  learner.fit(run.loader);
  EXPECT_THAT(told, HasSubstr("has no loss scale"));
}

//===- Averages -----------------------------------------------------------===//

TEST_F(Options, AnAverageIsThatOfTheLoop) {
  Made made;
  fit(made, {.epochs = 3});
  Made bare;
  sn::optim::Scheduler schedule(bare.run.adam,
                                sn::optim::step_lr({.step_size = 5}));
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (Batch &batch : bare.run.loader) {
      sn::Tensor loss = lossOf(bare.run.net, batch);
      bare.run.adam.step(bare.run.net, loss.backward());
      bare.ema.update(bare.run.net);
      schedule.step();
      loss.eval();
    }
    if (epoch > 0)
      bare.swa.update(bare.run.net);
  }
  EXPECT_EQ(made.numbers(), bare.numbers());
  EXPECT_EQ(made.swa.num_updates.tensor().item<int64_t>(), 2);
  EXPECT_EQ(made.ema.num_updates.tensor().item<int64_t>(), 18);
}

TEST_F(Options, ValidationRunsTheAverageOrTheModel) {
  Made made;
  auto evaluated = [&](Net &net) {
    train::Evaluator test(net, step);
    test.metric(sn::metrics::MeanLoss());
    return test.evaluate(made.run.valid)("loss");
  };
  auto validated = [&](const train::AverageOptions &options) {
    train::Learner learner(made.run.net, made.run.adam, step, {.epochs = 2});
    learner.average(made.ema, options).metric(sn::metrics::MeanLoss());
    return learner.fit(made.run.loader, made.run.valid)("loss");
  };
  double loss = validated({});
  EXPECT_EQ(loss, evaluated(made.ema.model()));
  EXPECT_NE(loss, evaluated(made.run.net));
  loss = validated({.validates = false});
  EXPECT_EQ(loss, evaluated(made.run.net));
  // Not before it takes part.
  loss = validated({.from_epoch = 3});
  EXPECT_EQ(loss, evaluated(made.run.net));
  EXPECT_THROW(validated({.from_epoch = 0}), sn::Error);
}

TEST_F(Options, AveragesGoOn) {
  expectResumes([](train::LearnerOptions &) {}, {1, 6, 11, 12, 17});
}

//===- Gradients of several batches ---------------------------------------===//

TEST_F(Options, GradientsAreThoseOfTheAccumulator) {
  Training run = begun();
  train::Learner learner(
      run.net, run.adam, step,
      {.epochs = 2, .accumulate = 4, .clip_norm = 0.1, .clip_value = 0.05});
  learner.fit(run.loader);
  Training bare = begun();
  train::GradientsAccumulator sums;
  auto update = [&] {
    sn::Gradients mean = sums.take_mean();
    sn::optim::clip_grad_norm(mean, 0.1);
    sn::optim::clip_grad_value(mean, 0.05);
    bare.adam.step(bare.net, std::move(mean));
  };
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    for (Batch &batch : bare.loader) {
      sn::Tensor loss = lossOf(bare.net, batch);
      sums.accumulate(bare.net, loss.backward());
      if (sums.count() == 4)
        update();
      loss.eval();
    }
    // What is left of the epoch: the mean of two batches.
    update();
  }
  EXPECT_EQ(numbersOf(run.net), numbersOf(bare.net));
}

TEST_F(Options, GradientsThatWaitGoOn) {
  // Within four batches, at the end of an epoch, and behind it.
  expectResumes(
      [](train::LearnerOptions &options) {
        options.accumulate = 4;
        options.clip_norm = 0.1;
      },
      {1, 3, 4, 5, 6, 7, 11, 12});
}

TEST_F(Options, ScaledGradientsOfSeveralBatchesGoOn) {
  expectResumes(
      [](train::LearnerOptions &options) {
        options.accumulate = 2;
        options.clip_norm = 0.5;
        options.autocast = sn::DType::f16;
        options.loss_scale = {{.init_scale = 1e8, .growth_interval = 2}};
      },
      {1, 2, 7});
}

TEST_F(Options, ControlCBetweenTwoUpdatesKeepsWhatWaits) {
  Made made;
  train::LearnerOptions options{.folder = folder,
                                .epochs = 3,
                                .accumulate = 4,
                                .checkpoints = {.background = false}};
  train::Learner learner(made.run.net, made.run.adam, step, options);
  learner.on([](const train::StepEnd &step) {
    if (step.total_step == 3)
      std::raise(SIGINT);
  });
  learner.fit(made.run.loader);
  EXPECT_THAT(numbers(), ElementsAre(3));
}

TEST_F(Options, AnOptimizerUpdatesOnceABatchWhereGradientsAreSummed) {
  Training run = begun();
  auto twice = [&](Net &net, Batch &batch, train::Updates &update) {
    auto output = step(net, batch);
    update(run.adam, net.fc1, output.loss);
    update(run.adam, net.fc2, output.loss);
    return output;
  };
  train::Learner learner(run.net, run.adam, twice, {.epochs = 1});
  learner.fit(run.loader);
  train::Learner summed(run.net, run.adam, twice,
                        {.epochs = 1, .accumulate = 2});
  try {
    summed.fit(run.loader);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const sn::Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("updates twice by the optimizer"));
    EXPECT_THAT(error.what(), HasSubstr("OptionsTest.cpp"));
  }
}

TEST_F(Options, SummedGradientsOfTwoOptimizersAreOfTheirParts) {
  auto trained = [&](int64_t accumulate) {
    Training run = begun();
    sn::optim::Sgd sgd({.lr = 0.1});
    auto both = [&](Net &net, Batch &batch, train::Updates &update) {
      auto output = step(net, batch);
      update(run.adam, net.fc1, output.loss);
      update(sgd, net.fc2, output.loss);
      return output;
    };
    train::Learner learner(run.net, run.adam, both,
                           {.epochs = 6, .accumulate = accumulate});
    learner.optimizer("head", sgd).metric(sn::metrics::MeanLoss());
    double loss = learner.fit(run.loader)("loss", train::Split::train);
    return std::pair(numbersOf(run.net), loss);
  };
  auto [each, loss] = trained(1);
  auto [sums, other] = trained(3);
  EXPECT_GT(maximumOf(each, sums), 1e-3);
  EXPECT_LT(other, 0.7) << "both parts are trained";
  EXPECT_LT(loss, 0.7);
}

//===- Groups -------------------------------------------------------------===//

TEST_F(Options, GroupsHaveRatesOfTheirOwnAndFollowTheSchedule) {
  auto grouped = [](Training &run) {
    run.adam.add_group(run.net, {"fc2.*"}, {.lr = 0.002});
    run.adam.add_group(run.net.fc1.bias, {.lr = 0});
  };
  Training run = begun();
  grouped(run);
  std::vector<float> bias = run.net.fc1.bias.tensor().to_vector<float>();
  train::Learner learner(run.net, run.adam, step, {.epochs = 2});
  learner.schedule(sn::optim::step_lr({.step_size = 3, .gamma = 0.5}));
  learner.fit(run.loader);
  EXPECT_EQ(run.net.fc1.bias.tensor().to_vector<float>(), bias);
  Training bare = begun();
  grouped(bare);
  sn::optim::Scheduler schedule(
      bare.adam, sn::optim::step_lr({.step_size = 3, .gamma = 0.5}));
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    for (Batch &batch : bare.loader) {
      sn::Tensor loss = lossOf(bare.net, batch);
      bare.adam.step(bare.net, loss.backward());
      schedule.step();
      loss.eval();
    }
  EXPECT_EQ(numbersOf(run.net), numbersOf(bare.net));
}
