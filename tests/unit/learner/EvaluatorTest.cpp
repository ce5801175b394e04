/// The evaluator, and metrics that do not fit.
#include "tests/unit/learner/Folder.h"
#include "tests/unit/learner/Spirals.h"

#include <sinter/Jit.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

using namespace spirals;
using namespace testing;
namespace train = sinter::train;

namespace {

class Evaluation : public FolderTest {};

std::string messageOf(const std::function<void()> &function) {
  try {
    function();
  } catch (const sn::Error &error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// How many logits are above 0: a metric of three functions.
struct Positives {
  sn::metrics::MetricInfo info() const {
    return {.name = "positives", .unit = "logits", .higher_is_better = true};
  }
  void update(const sn::Tensor &logits) {
    count.add(sn::sum((logits > 0).to(sn::DType::f32)));
  }
  double value() const { return count.value(); }
  void reset() { count.reset(); }
  std::vector<sn::metrics::State *> states() { return {&count}; }

  sn::metrics::State count{"count"};
};

const sn::Tensor &logitsOf(const sn::metrics::ClassificationOutput &output) {
  return output.logits;
}

} // namespace

TEST_F(Evaluation, IsTheLearnersValidation) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 3});
  learner.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 2}));
  train::Outcome trained = learner.fit(run.loader, run.valid);
  train::Evaluator test(run.net, step);
  test.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 2}));
  train::Outcome outcome = test.evaluate(run.valid);
  EXPECT_EQ(outcome("loss"), trained("loss"));
  EXPECT_EQ(outcome("accuracy"), trained("accuracy"));
  EXPECT_EQ(outcome.epochs, 1);
  EXPECT_EQ(outcome.status, train::Status::finished);
}

TEST_F(Evaluation, LeavesTheModelAsItWas) {
  Training run = begun();
  std::vector<float> before = numbersOf(run.net);
  run.net.dropout.mode.training = true;
  train::Evaluator test(run.net, step);
  test.metric(sn::metrics::MeanLoss());
  double loss = test.evaluate(run.valid)("loss");
  EXPECT_TRUE(run.net.dropout.mode.training);
  EXPECT_EQ(test.evaluate(run.valid)("loss"), loss) << "dropout is off";
  EXPECT_EQ(numbersOf(run.net), before);
  run.net.eval();
  test.evaluate(run.valid);
  EXPECT_FALSE(run.net.dropout.mode.training);
}

TEST_F(Evaluation, ABatchIsOneProgram) {
  Training run = begun();
  train::Evaluator test(run.net, step);
  test.metric(sn::metrics::MeanLoss())
      .metric(sn::metrics::Accuracy({.classes = 2}));
  test.evaluate(run.valid);
  sn::reset_stats();
  test.evaluate(run.valid);
  EXPECT_EQ(sn::stats().programs_run, 2U);
  EXPECT_EQ(sn::stats().compiles, 0U);
}

TEST_F(Evaluation, TellsAndWritesALog) {
  Training run = begun();
  train::Evaluator test(run.net, step, {.name = "test set", .folder = folder});
  test.metric(sn::metrics::MeanLoss()).monitors({.dashboard = false});
  std::string told;
  test.on([&](const train::Event &event) {
    const char *names[] = {"begin",   "epoch",       "step",    "done",
                           "report",  "numbers",     "written", "removed",
                           "message", "interrupted", "end"};
    told += std::string(names[event.index()]) + " ";
  });
  test.evaluate(run.valid);
  EXPECT_EQ(told, "begin epoch step step done end ");
  std::ifstream file(folder + "/experiment.log");
  std::string log{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(log, HasSubstr("test set begins"));
  EXPECT_THAT(log, HasSubstr("epoch 1 valid: 2 steps"));
  EXPECT_THAT(log, HasSubstr("fc1"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/valid/epoch-1/loss.log") ||
              std::filesystem::exists(folder + "/metrics.csv"));
}

TEST_F(Evaluation, RefusesWhatMeansNothing) {
  Training run = begun();
  struct Bare {
    sn::Tensor logits;
  };
  train::Evaluator none(run.net, [](const Net &net, const Batch &batch) {
    return Bare{net.forward(batch.first)};
  });
  EXPECT_THAT(messageOf([&] { none.evaluate(run.valid); }),
              HasSubstr("needs a metric"));
  train::Evaluator<Net, Batch, Bare> empty(run.net, {});
  EXPECT_THAT(messageOf([&] { empty.evaluate(run.valid); }),
              HasSubstr("no step"));
}

//===- Metrics ------------------------------------------------------------===//

TEST_F(Evaluation, AMetricThatDoesNotFitNamesItsLine) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 1});
  learner.metric(sn::metrics::MeanLoss());
  auto line = std::source_location::current().line() + 1;
  learner.metric(sn::metrics::Accuracy({.classes = 7}));
  std::string message = messageOf([&] { learner.fit(run.loader); });
  EXPECT_THAT(message, HasSubstr("accuracy: scores are not of 7 classes"));
  EXPECT_THAT(message, HasSubstr("EvaluatorTest.cpp:" + std::to_string(line)));

  train::Evaluator test(run.net, step);
  line = std::source_location::current().line() + 1;
  test.metric(sn::metrics::Accuracy({.classes = 3}), [](const auto &output) {
    return sn::metrics::ClassInput{output.logits, output.logits};
  });
  message = messageOf([&] { test.evaluate(run.valid); });
  EXPECT_THAT(message, HasSubstr("accuracy: "));
  EXPECT_THAT(message, HasSubstr("EvaluatorTest.cpp:" + std::to_string(line)));
}

TEST_F(Evaluation, AMetricOfThreeFunctionsTakesWhatAnAdaptorMakes) {
  Training run = begun();
  train::Learner learner(run.net, run.adam, step, {.epochs = 1});
  learner.metric(Positives(), logitsOf);
  train::Value told;
  learner.on([&](const train::EpochEnd &epoch) {
    if (epoch.split == train::Split::valid)
      told = epoch.values[0];
  });
  double positives = learner.fit(run.loader, run.valid)("positives");
  EXPECT_EQ(told.name, "positives");
  EXPECT_EQ(told.unit, "logits");
  EXPECT_EQ(told.better, train::Better::higher);
  double wanted = 0;
  run.net.eval();
  for (Batch &batch : run.valid)
    for (float logit : run.net.forward(batch.first).to_vector<float>())
      wanted += logit > 0;
  EXPECT_EQ(positives, wanted);
}

//===- Functions that are recorded once -----------------------------------===//

TEST_F(Evaluation, AStepMayBeAJittedFunction) {
  auto trained = [](bool isJitted) {
    Training run = begun();
    auto forward = sn::jit([&run](const sn::Tensor &x, const sn::Tensor &y) {
      sn::Tensor logits = run.net.forward(x);
      return std::pair(sn::cross_entropy(logits, y), logits);
    });
    auto both = [&](Net &, Batch &batch) {
      if (!isJitted)
        return step(run.net, batch);
      auto [loss, logits] = forward(batch.first, batch.second);
      return sn::metrics::ClassificationOutput{loss, logits, batch.second};
    };
    train::Learner learner(run.net, run.adam, both, {.epochs = 3});
    learner.metric(sn::metrics::MeanLoss())
        .metric(sn::metrics::Accuracy({.classes = 2}));
    train::Outcome outcome = learner.fit(run.loader, run.valid);
    return std::tuple(numbersOf(run.net), outcome("loss"), outcome("accuracy"),
                      outcome("accuracy", train::Split::train));
  };
  EXPECT_EQ(trained(true), trained(false));
}

TEST_F(Evaluation, UpdatesMayBeInAJittedFunction) {
  auto trained = [](bool isJitted) {
    Training run = begun();
    sn::metrics::MetricSet<sn::metrics::ClassificationOutput> metrics;
    metrics.add(sn::metrics::MeanLoss())
        .add(sn::metrics::Accuracy({.classes = 2}));
    auto whole = [&](const sn::Tensor &x, const sn::Tensor &y) {
      sn::metrics::ClassificationOutput output = step(run.net, {x, y});
      metrics.update(output);
      run.adam.step(run.net, output.loss.backward());
      return output.loss;
    };
    auto jitted = sn::jit(whole);
    for (int epoch = 0; epoch < 3; ++epoch)
      for (Batch &batch : run.loader)
        (isJitted ? jitted(batch.first, batch.second)
                  : whole(batch.first, batch.second))
            .eval();
    return std::tuple(metrics.value("loss"), metrics.value("accuracy"),
                      numbersOf(run.net));
  };
  EXPECT_EQ(trained(true), trained(false));
}
