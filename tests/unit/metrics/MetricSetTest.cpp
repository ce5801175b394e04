/// Sets of metrics: what steps give them, what they add to a step's program,
/// and what a checkpoint keeps.
#include "frontend/ElementwiseFunctions.h"
#include <sinter/Metrics.h>

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>

namespace sn = sinter;
namespace sm = sinter::metrics;
using Output = sm::ClassificationOutput;

namespace {

struct Net {
  sn::nn::Linear first{6, 16}, second{16, 4};
  sn::Tensor forward(const sn::Tensor &x) const {
    return second(sn::relu(first(x)));
  }
  SINTER_MODULE(Net, first, second)
};

sn::Tensor inputs(int64_t n, float scale) {
  std::vector<float> values(static_cast<size_t>(n * 6));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scale * std::sin(static_cast<float>(i) + scale);
  return sn::tensor(values, {n, 6});
}

sn::Tensor labels(int64_t n, int64_t seed) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back((i * 7 + seed) % 4);
  return sn::tensor(values, {n});
}

Output outputOf(const Net &net, int64_t n, int64_t seed) {
  sn::Tensor logits = net(inputs(n, 1 + float(seed) / 10));
  sn::Tensor targets = labels(n, seed);
  return {sn::cross_entropy(logits, targets), logits, targets};
}

/// How far the largest logit of all is above 0: of three functions.
class LargestLogit {
public:
  sm::MetricInfo info() const {
    return {.name = "largest", .unit = "logit", .higher_is_better = true};
  }
  void update(const sn::Tensor &logits) {
    sn::Tensor now = largest.tensor(logits.device());
    largest.set(sn::maximum(now, sn::amax(logits)));
  }
  double value() const { return largest.value(); }
  void reset() { largest.reset(); }
  std::vector<sm::State *> states() const { return {&largest}; }

private:
  mutable sm::State largest{"largest"};
};

sm::MetricSet<Output> lossAndAccuracy() {
  sm::MetricSet<Output> metrics;
  metrics.add(sm::MeanLoss()).add(sm::Accuracy({.classes = 4}));
  return metrics;
}

/// Launches and programs of ten steps, behind three that compile.
sn::Stats statsOfSteps(sm::MetricSet<Output> *metrics) {
  sn::manual_seed(3);
  Net net;
  sn::optim::Adam adam;
  auto step = [&](int64_t i) {
    Output output = outputOf(net, 8, i);
    if (metrics)
      metrics->update(output);
    adam.step(net, output.loss.backward());
  };
  for (int64_t i = 0; i < 3; ++i)
    step(i);
  sn::eval({net.first.weight.tensor()});
  sn::reset_stats();
  for (int64_t i = 0; i < 10; ++i)
    step(i);
  sn::eval({net.first.weight.tensor()});
  return sn::stats();
}

} // namespace

TEST(MetricSet, AStepWithLossAndAccuracyIsOneProgram) {
  sn::Stats bare = statsOfSteps(nullptr);
  sm::MetricSet<Output> metrics = lossAndAccuracy();
  sn::Stats with = statsOfSteps(&metrics);
  EXPECT_EQ(bare.programs_run, 10U);
  EXPECT_EQ(with.programs_run, 10U);
  EXPECT_EQ(with.compiles, 0U);
  EXPECT_EQ(with.recomputed, 0U);
  EXPECT_EQ(with.donations_refused, 0U);
  RecordProperty("launches_bare", int(bare.launches));
  RecordProperty("launches_with_metrics", int(with.launches));
  // One computes the loss, whose value the bare step never needs, and one adds
  // up what is right; elsewhere than on cpu one more finds the classes.
  bool isCpu = sn::default_device() == sn::device("cpu");
  EXPECT_LE(with.launches, bare.launches + 10 * (isCpu ? 2 : 3));
  // Nothing was read so far, and reading runs nothing.
  sn::reset_stats();
  metrics.values();
  EXPECT_EQ(sn::stats().programs_run, 0U);
}

TEST(MetricSet, AnEvaluationRunsOneProgramABatch) {
  Net net;
  sm::MetricSet<Output> metrics = lossAndAccuracy();
  metrics.add(sm::F1({.classes = 4}))
      .add(sm::Auroc({.task = sm::Task::multiclass, .classes = 4}));
  auto batch = [&](int64_t n, int64_t seed) {
    sn::no_grad guard;
    metrics.update(outputOf(net, n, seed));
  };
  for (int64_t n : {8, 5, 6})
    batch(n, n);
  metrics.values();
  sn::reset_stats();
  for (int64_t n : {8, 5, 6, 7, 3, 9})
    batch(n, n);
  metrics.values();
  EXPECT_EQ(sn::stats().programs_run, 6U);
  EXPECT_EQ(sn::stats().compiles, 0U);
}

TEST(MetricSet, OutputsOfStepsConvertToWhatMetricsTake) {
  sn::Tensor logits = sn::tensor({{2.f, 0.f}, {0.f, 1.f}, {3.f, 1.f}});
  sn::Tensor targets = sn::tensor({int64_t(0), int64_t(1), int64_t(1)});
  sm::MetricSet<Output> classes;
  classes.add(sm::MeanLoss()).add(sm::Accuracy({.classes = 2}));
  classes.update({sn::tensor({0.25f}), logits, targets});
  EXPECT_DOUBLE_EQ(classes.value("loss"), 0.25);
  EXPECT_DOUBLE_EQ(classes.value("accuracy"), 2.0 / 3);

  sm::MetricSet<sm::RegressionOutput> numbers;
  numbers.add(sm::MeanLoss()).add(sm::MeanAbsoluteError());
  sn::Tensor x = sn::tensor({1.f, 2.f}), t = sn::tensor({1.5f, 3.5f});
  numbers.update({sn::mse_loss(x, t), x, t});
  EXPECT_DOUBLE_EQ(numbers.value("mae"), 1);
  EXPECT_DOUBLE_EQ(numbers.value("loss"), 1.25);

  sm::MetricSet<sm::MultiLabelOutput> labels;
  labels.add(sm::HammingDistance({.task = sm::Task::multilabel, .classes = 2}));
  labels.update({sn::tensor({0.f}), sn::tensor({{1.f, -1.f}, {1.f, 1.f}}),
                 sn::tensor({{1.f, 0.f}, {0.f, 1.f}})});
  EXPECT_DOUBLE_EQ(labels.value("hamming"), 0.25);
}

namespace {
/// A step's output of the user's own, which says what metrics take of it.
struct OwnOutput {
  sn::Tensor scores, truth;
  operator sm::ClassInput() const { return {scores, truth}; }
};
} // namespace

TEST(MetricSet, AnOutputOfTheUsersOwnIsAdaptedByConversionOrFunction) {
  sm::MetricSet<OwnOutput> metrics;
  metrics.add(sm::Accuracy({.classes = 2}))
      .add(sm::Accuracy({.classes = 2, .name = "reversed"}),
           [](const OwnOutput &output) {
             return sm::ClassInput{output.scores, 1 - output.truth};
           });
  metrics.update({sn::tensor({{2.f, 0.f}, {0.f, 1.f}, {3.f, 1.f}}),
                  sn::tensor({int64_t(0), int64_t(1), int64_t(1)})});
  EXPECT_DOUBLE_EQ(metrics.value("accuracy"), 2.0 / 3);
  EXPECT_DOUBLE_EQ(metrics.value("reversed"), 1.0 / 3);
}

TEST(MetricSet, AMetricOfTheUsersOwnIsThreeFunctionsAndItsInfo) {
  sm::MetricSet<Output> metrics;
  metrics.add(LargestLogit(),
              [](const Output &output) { return output.logits; });
  EXPECT_EQ(metrics.infos()[0].name, "largest");
  EXPECT_EQ(metrics.infos()[0].unit, "logit");
  EXPECT_EQ(metrics.infos()[0].higher_is_better, true);
  sn::Tensor targets = sn::tensor({int64_t(0)});
  metrics.update({{}, sn::tensor({{1.f, 5.f}}), targets});
  metrics.update({{}, sn::tensor({{2.f, 3.f}}), targets});
  EXPECT_EQ(metrics.value("largest"), 5);
  metrics.reset();
  metrics.update({{}, sn::tensor({{2.f, 3.f}}), targets});
  EXPECT_EQ(metrics.value("largest"), 3);
}

TEST(MetricSet, AMetricOfTheUsersOwnAddsNoProgram) {
  sm::MetricSet<Output> metrics;
  metrics.add(LargestLogit(),
              [](const Output &output) { return output.logits; });
  EXPECT_EQ(statsOfSteps(&metrics).programs_run, 10U);
}

TEST(MetricSet, GradientsDoNotFlowIntoMetrics) {
  Net net;
  sm::MetricSet<Output> metrics = lossAndAccuracy();
  metrics.add(LargestLogit(),
              [](const Output &output) { return output.logits; });
  metrics.update(outputOf(net, 8, 1));
  for (size_t i = 0; i < metrics.size(); ++i)
    for (const sm::State *state : metrics[i].states())
      EXPECT_FALSE(state->saved().requires_grad()) << state->name();
}

TEST(MetricSet, ACheckpointInTheMiddleOfAnEpochGoesOnWithTheSameNumbers) {
  Net net;
  auto make = [] {
    sm::MetricSet<Output> metrics = lossAndAccuracy();
    metrics.add(sm::F1({.classes = 4}))
        .add(sm::F1({.classes = 4, .average = sm::Average::weighted}))
        .add(sm::Auroc({.task = sm::Task::multiclass, .classes = 4}))
        .add(sm::Auroc({.task = sm::Task::multiclass,
                        .classes = 4,
                        .bins = 50,
                        .name = "binned"}))
        .add(sm::ConfusionMatrix({.classes = 4}));
    return metrics;
  };
  sm::MetricSet<Output> whole = make(), begun = make(), ended = make();
  for (int64_t i = 0; i < 6; ++i)
    whole.update(outputOf(net, 3 + i, i));
  for (int64_t i = 0; i < 3; ++i)
    begun.update(outputOf(net, 3 + i, i));
  sm::StateMap state = begun.state();
  EXPECT_TRUE(state.contains("loss/sum"));
  EXPECT_TRUE(state.contains("f1#2/hits"));
  ended.load_state(state);
  for (int64_t i = 3; i < 6; ++i)
    ended.update(outputOf(net, 3 + i, i));
  std::vector<sm::Value> expected = whole.values(), found = ended.values();
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, expected[i].name);
    EXPECT_EQ(found[i].value, expected[i].value) << found[i].name;
  }
}

TEST(MetricSet, AStateThatDoesNotFitIsRefusedAndNothingChanges) {
  Net net;
  sm::MetricSet<Output> metrics = lossAndAccuracy();
  metrics.update(outputOf(net, 8, 1));
  std::vector<sm::Value> before = metrics.values();
  sm::StateMap unknown{{"other/sum", sn::zeros({})}};
  EXPECT_THROW(metrics.load_state(unknown), sn::Error);
  sm::StateMap wrong = metrics.state();
  wrong["accuracy/hits"] = sn::zeros({3}, {.dtype = sn::DType::i64});
  EXPECT_THROW(metrics.load_state(wrong), sn::Error);
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(metrics.values()[i].value, before[i].value);
}

TEST(MetricSet, AnEmptyEpochHasNoValue) {
  sm::MetricSet<Output> metrics = lossAndAccuracy();
  metrics.add(sm::F1({.classes = 4}))
      .add(sm::TopKAccuracy(2, {.classes = 4}))
      .add(sm::Auroc({.task = sm::Task::multiclass, .classes = 4}));
  for (const sm::Value &value : metrics.values())
    EXPECT_TRUE(std::isnan(value.value)) << value.name;
  EXPECT_TRUE(metrics.state().empty());
}

TEST(MetricInfo, ValuesArePrintedAndCompared) {
  sm::MetricInfo accuracy = sm::Accuracy({.classes = 2}).info();
  EXPECT_EQ(accuracy.format(0.97251), "97.25 %");
  EXPECT_TRUE(accuracy.is_better(0.9, 0.8));
  sm::MetricInfo loss = sm::MeanLoss().info();
  EXPECT_EQ(loss.format(0.03125), "0.0312");
  EXPECT_EQ(loss.format(std::nan("")), "nan");
  EXPECT_TRUE(loss.is_better(0.1, 0.2));
  EXPECT_FALSE(loss.is_better(std::nan(""), 0.2));
  EXPECT_TRUE(loss.is_better(0.2, std::nan("")));
  sm::MetricInfo neither = sm::CpuUse().info();
  EXPECT_FALSE(neither.is_better(1, 0) || neither.is_better(0, 1));
}
