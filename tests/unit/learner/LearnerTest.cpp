/// The trainer: what it computes, tells and refuses.
#include "tests/unit/learner/Spirals.h"

#include <sinter/Memory.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace spirals;
using namespace testing;
namespace train = sinter::train;

namespace {

/// The six lines that a learner stands for.
void trainBare(Training &run, int64_t epochs) {
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (Batch &batch : run.loader) {
      sn::Tensor loss =
          sn::cross_entropy(run.net.forward(batch.first), batch.second);
      run.adam.step(run.net, loss.backward());
      loss.eval();
    }
}

std::vector<std::string> namesOf(std::span<const train::Value> values) {
  std::vector<std::string> names;
  for (const train::Value &value : values)
    names.push_back(value.name);
  return names;
}

std::string messageOf(const std::function<void()> &function) {
  try {
    function();
  } catch (const sn::Error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

} // namespace

TEST(Learner, TrainsToTheWeightsOfTheBareLoop) {
  Training bare = begun();
  trainBare(bare, 3);
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 3});
  train::Outcome outcome = learner.fit(run.loader);
  EXPECT_EQ(outcome.status, train::Status::finished);
  EXPECT_EQ(outcome.epochs, 3);
  EXPECT_EQ(outcome.steps, 18);
  EXPECT_EQ(numbersOf(run.net), numbersOf(bare.net));
}

TEST(Learner, AddsNoProgramAndNoLaunch) {
  auto counts = [](const std::function<void()> &function) {
    sn::reset_stats();
    function();
    sn::Stats stats = sn::stats();
    return std::pair(stats.programs_run, stats.launches);
  };
  Training bare = begun();
  trainBare(bare, 1);
  Training run = begun();
  train::Learner first(run.net, run.adam, step, {.epochs = 1});
  first.fit(run.loader);
  train::Learner learner(run.net, run.adam, step, {.epochs = 4});
  auto bareCounts = counts([&] { trainBare(bare, 4); });
  EXPECT_EQ(counts([&] { learner.fit(run.loader); }), bareCounts);
}

TEST(Learner, StoresNothingOfAnOutputThatNobodyReads) {
  struct Output {
    sn::Tensor loss, pairs; // of all numbers of a batch with each other
  };
  auto large = [](Net &net, Batch &batch) {
    sn::Tensor all = sn::reshape(net.forward(batch.first), {-1, 1}) *
                     sn::zeros({1, 1 << 20}, {.dtype = sn::DType::f32});
    return Output{sn::mean(all), all};
  };
  Training run = begun();
  train::Learner learner(run.net, run.adam, large, {.epochs = 2});
  sn::reset_peak();
  uint64_t before = sn::memory().peak;
  learner.fit(run.loader, run.valid);
  EXPECT_LT(sn::memory().peak - before, 32U << 20) << "a batch's are 128 MB";
}

TEST(Learner, MetricsAreOfAllItems) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 25});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 2}));
  train::Outcome outcome = learner.fit(run.loader, run.valid);
  run.net.eval();
  Loader all(points(32), {.batch_size = 32});
  Batch batch = *all.begin();
  auto output = step(run.net, batch);
  EXPECT_NEAR(outcome("loss"), output.loss.item<double>(), 1e-5);
  double right =
      sn::mean(
          (sn::argmax(output.logits, 1) == batch.second).to(sn::DType::f64))
          .item<double>();
  EXPECT_NEAR(outcome("accuracy"), right, 1e-7);
  EXPECT_GT(outcome("accuracy", train::Split::train), 0.6);
  EXPECT_THAT(messageOf([&] { outcome("recall"); }),
              HasSubstr("valid 'accuracy'"));
  EXPECT_NEAR(learner.evaluate(run.valid)("loss"), outcome("loss"), 1e-6);
}

TEST(Learner, TellsWhatHappens) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.name = "spirals", .epochs = 2, .log_every = 4});
  learner.metric(sn::metrics::MeanLoss());
  std::string told;
  learner.on([&](const train::Event &event) {
    if (std::holds_alternative<train::DeviceReport>(event))
      return; // as time passes
    const char *names[] = {"begin",   "epoch",       "step",    "done",
                           "report",  "numbers",     "written", "removed",
                           "message", "interrupted", "end"};
    told += names[event.index()];
    if (auto *step = std::get_if<train::StepEnd>(&event))
      told += step->values.empty() ? "-" : "+";
    told += ' ';
  });
  std::vector<std::string> trained, validated;
  learner.on([&](const train::EpochEnd &epoch) {
    (epoch.split == train::Split::train ? trained : validated) =
        namesOf(epoch.values);
  });
  learner.fit(run.loader, run.valid);
  EXPECT_EQ(told, "begin epoch step- step- step- step+ step- step- done step- "
                  "step- done epoch step- step+ step- step- step- step+ "
                  "done step- step- done end ");
  EXPECT_THAT(trained, ElementsAre("loss", "learning rate", "steps"));
  EXPECT_THAT(validated, ElementsAre("loss"));
}

TEST(Learner, GathersGradients) {
  // Four batches of 16 have the gradients of one of 64.
  auto of = [](int64_t size, int64_t accumulate) {
    sn::manual_seed(5);
    auto net = std::make_unique<Net>();
    net->dropout = sn::nn::Dropout(0);
    Loader loader(points(128), {.batch_size = size});
    sn::optim::Sgd sgd({.lr = 0.5});
    train::Learner learner(*net, sgd, step,
                           {.epochs = 3, .accumulate = accumulate});
    learner.fit(loader);
    return numbersOf(*net);
  };
  EXPECT_THAT(of(16, 4), Pointwise(FloatNear(1e-5), of(64, 1)));
}

TEST(Learner, ClipsAndFollowsASchedule) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step,
                         {.epochs = 1, .clip_norm = 1e-3, .log_every = 1});
  learner.schedule(sn::optim::step_lr({.step_size = 2, .gamma = 0.5}));
  std::vector<double> rates;
  learner.on([&](const train::StepEnd &step) {
    for (const train::Value &value : step.values)
      if (value.role == train::Role::learning_rate)
        rates.push_back(value.value);
  });
  learner.fit(run.loader);
  EXPECT_THAT(rates, ElementsAre(0.02, 0.01, 0.01, 0.005, 0.005, 0.0025));
}

TEST(Learner, StopsEarly) {
  Training run = begun();
  train::Learner learner(
      run.net, run.adam, step,
      {.epochs = 50,
       .early_stopping = {{.metric = "loss", .patience = 2, .min_delta = 10}}});
  learner.metric(sn::metrics::MeanLoss());
  train::Outcome outcome = learner.fit(run.loader, run.valid);
  EXPECT_EQ(outcome.status, train::Status::stopped);
  EXPECT_EQ(outcome.epochs, 4);
  EXPECT_THAT(outcome.why, HasSubstr("valid loss was not better for 3"));
}

TEST(Learner, StopsWhenAskedAndAtMostSteps) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 50});
  learner.on([&](const train::StepEnd &step) {
    if (step.total_step == 9)
      learner.stop("enough");
  });
  train::Outcome outcome = learner.fit(run.loader);
  EXPECT_EQ(outcome.steps, 9);
  EXPECT_EQ(outcome.why, "enough");
  Training most = begun();
  train::Learner bounded(most.net, most.adam, step,
                         {.epochs = 50, .max_steps = 11});
  EXPECT_EQ(bounded.fit(most.loader).steps, 11);
}

TEST(Learner, TakesSeveralOptimizers) {
  Training run = begun();
  sn::optim::Sgd sgd({.lr = 0.1});
  auto both = [&](Net &net, Batch &batch, train::Updates &update) {
    auto output = step(net, batch);
    update(run.adam, net.fc1, output.loss);
    update(sgd, net.fc2, output.loss);
    return output;
  };
  train::Learner learner(run.net, run.adam, both, {.epochs = 2});
  EXPECT_THAT(messageOf([&] { learner.fit(run.loader); }),
              HasSubstr("does not know"));
  learner.optimizer("head", sgd);
  EXPECT_THAT(messageOf([&] { learner.fit(run.loader, run.valid); }),
              HasSubstr("learner.valid_step"));
  learner.valid_step([](Net &net, Batch &batch) { return step(net, batch); });
  EXPECT_EQ(learner.fit(run.loader, run.valid).epochs, 2);

  Training plain = begun();
  sn::optim::Sgd again({.lr = 0.1});
  for (int64_t epoch = 0; epoch < 2; ++epoch)
    for (Batch &batch : plain.loader) {
      auto output = step(plain.net, batch);
      plain.adam.step(plain.net.fc1, output.loss.backward());
      again.step(plain.net.fc2, output.loss.backward());
      output.loss.eval();
    }
  Training anew = begun();
  sn::optim::Sgd third({.lr = 0.1});
  train::Learner whole(anew.net, anew.adam,
                       [&](Net &net, Batch &batch, train::Updates &update) {
                         auto output = step(net, batch);
                         update(anew.adam, net.fc1, output.loss);
                         update(third, net.fc2, output.loss);
                         return output;
                       },
                       {.epochs = 2});
  whole.optimizer("head", third);
  whole.fit(anew.loader);
  EXPECT_EQ(numbersOf(anew.net), numbersOf(plain.net));
}

TEST(Learner, AnOutputWithoutALossIsEvaluatedByItsMetricsBatchByBatch) {
  struct Judged {
    sn::metrics::ClassInput classes;
  };
  Training run = begun();
  train::Learner learner(run.net, run.adam,
                         [&](Net &net, Batch &batch, train::Updates &update) {
                           auto output = step(net, batch);
                           update(run.adam, net, output.loss);
                           return Judged{output};
                         },
                         {.epochs = 1});
  learner.valid_step(
      [](Net &net, Batch &batch) { return Judged{step(net, batch)}; });
  EXPECT_THAT(messageOf([&] { learner.fit(run.loader); }),
              HasSubstr("needs a metric"));
  learner.metric(sn::metrics::Accuracy({.classes = 2}),
                 [](const Judged &judged) { return judged.classes; });
  learner.fit(run.loader);
  sn::reset_stats();
  learner.evaluate(run.valid);
  EXPECT_GE(sn::stats().programs_run, 2U) << "one for each batch";
}

TEST(Learner, RefusesWhatMeansNothing) {
  Training run = begun();
  auto made = [&](train::LearnerOptions options) {
    return messageOf(
        [&] { train::Learner(run.net, run.adam, step, std::move(options)); });
  };
  EXPECT_THAT(made({.epochs = -1}), HasSubstr("epochs is -1"));
  EXPECT_THAT(made({.accumulate = 0}), HasSubstr("accumulate is 0"));
  EXPECT_THAT(made({.clip_norm = NAN}), HasSubstr("clip_norm is nan"));
  EXPECT_THAT(made({.checkpoints = {.keep_last = 0}}), HasSubstr("keep_last"));
  train::Learner learner(run.net, run.adam, step,
                         {.early_stopping = {{.metric = "recall"}}});
  EXPECT_THAT(messageOf([&] { learner.fit(run.loader, run.valid); }),
              HasSubstr("'recall', which is not there"));
}

TEST(Learner, AnotherFunctionMayValidate) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 1});
  learner.train_metric(sn::metrics::MeanLoss())
      .valid_metric(sn::metrics::MeanLoss("doubled"))
      .valid_step([](Net &net, Batch &batch) {
        auto output = step(net, batch);
        output.loss = output.loss * 2;
        return output;
      });
  double doubled = learner.fit(run.loader, run.valid)("doubled");
  train::Evaluator test(run.net, step);
  test.metric(sn::metrics::MeanLoss());
  EXPECT_NEAR(doubled, 2 * test.evaluate(run.valid)("loss"), 1e-6);
}

TEST(Learner, ASeedRestartsRandomNumbers) {
  auto trained = [](std::optional<uint64_t> seed, uint64_t before) {
    Training run = begun();
    sn::manual_seed(before);
    train::Learner(run.net, run.adam, step, {.epochs = 1, .seed = seed})
        .fit(run.loader);
    return numbersOf(run.net);
  };
  EXPECT_EQ(trained(7, 1), trained(7, 2));
  EXPECT_NE(trained(7, 1), trained(8, 1));
  EXPECT_NE(trained({}, 1), trained({}, 2));
}

TEST(Learner, MetricsDrawNoRandomNumbers) {
  auto trained = [](bool isMeasured) {
    Training run = begun();
    train::Learner learner(run.net, run.adam, step, {.epochs = 2});
    if (isMeasured)
      learner.metric(sn::metrics::MeanLoss())
          .metric(sn::metrics::Accuracy({.classes = 2}))
          .metric(sn::metrics::Auroc({.task = sn::metrics::Task::binary}),
                  [](const sn::metrics::ClassificationOutput &output) {
                    return sn::metrics::ClassInput{
                        sn::slice(sn::softmax(output.logits, 1), {0, 1},
                                  {output.logits.dim(0), 2}, {1, 1}),
                        sn::unsqueeze(output.targets, 1)};
                  });
    learner.fit(run.loader);
    return numbersOf(run.net);
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST(Learner, AFailureIsTold) {
  Training run = begun();
  train::Learner learner(run.net, run.adam,
                         [](const Net &net, const Batch &batch) {
                           if (batch.first.dim(0).value < 16)
                             throw std::runtime_error("a short batch");
                           return step(net, batch);
                         },
                         {.epochs = 2});
  std::string why;
  learner.on([&](const train::RunEnd &end) { why = end.why; });
  EXPECT_THROW(learner.fit(run.loader), std::runtime_error);
  EXPECT_EQ(why, "a short batch");
}
