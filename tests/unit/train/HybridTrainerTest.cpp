/// Phases of a hybrid trainer.
#include "tests/unit/train/Models.h"

#include <sinter/train/Hybrid.h>

#include <gtest/gtest.h>

#include <cmath>

using namespace train_test;
namespace sn = sinter;
using sn::train::HybridModel;
using sn::train::HybridOptimizer;
using sn::train::HybridSchedule;
using sn::train::HybridTrainer;
using sn::train::Phase;

namespace {

HybridOptimizer sgd(double lr = 0.05) {
  return HybridOptimizer::of<sn::optim::Sgd>(sn::optim::SgdOptions{.lr = lr});
}

std::string phasesOf(const HybridSchedule &schedule, int steps) {
  HybridModel model(Mlp(), lossOf);
  HybridOptimizer optimizer = sgd(0);
  HybridTrainer trainer(model, optimizer, schedule);
  std::string text;
  for (int i = 0; i < steps; ++i) {
    auto report = trainer.step(batchOf(4, 1));
    EXPECT_EQ(report.step, i);
    text += sn::train::to_string(report.phase)[0];
  }
  return text;
}

TEST(HybridTrainerTest, phasesFollowEachOther) {
  EXPECT_EQ(phasesOf({.warmup = 2, .full = 3, .predict = 2, .correct = 1}, 14),
            "wwfffppcfffppc");
  EXPECT_EQ(phasesOf({.warmup = 0, .full = 1, .predict = 1, .correct = 0}, 4),
            "fpfp");
  EXPECT_EQ(phasesOf({.warmup = 0, .full = 2, .predict = 0, .correct = 0}, 4),
            "ffff");
}

TEST(HybridTrainerTest, extrapolationIsTheMeanOfTheChanges) {
  std::vector<sn::Tensor> deltas = {sn::tensor({1.f, 4.f}),
                                    sn::tensor({3.f, -2.f})};
  EXPECT_EQ(sn::train::extrapolate_linearly(deltas).to_vector<float>(),
            (std::vector<float>{2, 1}));
}

TEST(HybridTrainerTest, predictorsAreGivenTheLastChangesAndTheirsIsApplied) {
  sn::manual_seed(3);
  HybridModel model(Mlp(), lossOf);
  HybridOptimizer optimizer = sgd();
  size_t given = 0;
  std::vector<float> last;
  HybridTrainer trainer(
      model, optimizer,
      {.warmup = 1, .full = 5, .predict = 2, .correct = 1, .history = 3},
      [&](std::span<const sn::Tensor> deltas) {
        given = deltas.size();
        last = deltas.back().to_vector<float>();
        return deltas.back() * 2.f;
      });
  std::vector<std::vector<float>> weights;
  for (uint64_t i = 0; i < 8; ++i) {
    trainer.step(batchOf(16, i));
    weights.push_back(model.weights().to_vector<float>());
  }
  EXPECT_EQ(given, 3u);
  ASSERT_EQ(last.size(), 67u);
  for (size_t i = 0; i < last.size(); ++i) {
    EXPECT_EQ(last[i], weights[5][i] - weights[4][i]);
    EXPECT_EQ(weights[6][i], weights[5][i] + last[i] * 2);
    EXPECT_EQ(weights[7][i], weights[6][i] + last[i] * 2);
  }
}

TEST(HybridTrainerTest, predictedStepsRecordNoGradients) {
  HybridModel model(Mlp(), lossOf);
  HybridOptimizer optimizer = sgd();
  HybridTrainer trainer(model, optimizer,
                        {.warmup = 0, .full = 2, .predict = 3, .correct = 1});
  for (uint64_t i = 0; i < 12; ++i) {
    Phase phase = trainer.phase();
    auto report = trainer.step(batchOf(8, i));
    EXPECT_EQ(report.phase, phase);
    EXPECT_EQ(report.predicted, phase == Phase::predict);
    EXPECT_TRUE(std::isfinite(report.loss));
  }
}

TEST(HybridTrainerTest, aLossThatIsTooBadEndsThePrediction) {
  HybridModel model(Mlp(), [](const Mlp &mlp, const double &factor) {
    return sn::sum(sn::square(mlp.forward(sn::ones({1, 10})))) * 0.f + factor;
  });
  HybridOptimizer optimizer = sgd();
  HybridTrainer trainer(model, optimizer,
                        {.warmup = 0, .full = 2, .predict = 4, .correct = 1});
  for (double loss : {1.0, 1.0, 1.4})
    trainer.step(loss);
  EXPECT_EQ(trainer.phase(), Phase::predict);
  auto before = model.weights().to_vector<float>();
  EXPECT_FALSE(trainer.step(2.0).predicted);
  EXPECT_EQ(model.weights().to_vector<float>(), before);
  EXPECT_EQ(trainer.phase(), Phase::correct);
  EXPECT_EQ(trainer.step(1.0).phase, Phase::correct);
  for (double loss : {1.0, 1.0})
    trainer.step(loss);
  EXPECT_FALSE(trainer.step(std::nan("")).predicted);
  EXPECT_EQ(trainer.phase(), Phase::correct);
}

TEST(HybridTrainerTest, hybridStepsLowerTheLoss) {
  sn::manual_seed(3);
  HybridModel model(Mlp(), lossOf);
  HybridOptimizer optimizer = sgd();
  HybridTrainer trainer(model, optimizer,
                        {.warmup = 10, .full = 10, .predict = 5, .correct = 5});
  double first = 0, last = 0;
  int predicted = 0;
  for (uint64_t i = 0; i < 400; ++i) {
    auto report = trainer.step(batchOf(32, i));
    (i < 10 ? first : last) += i < 10 || i >= 390 ? report.loss : 0;
    predicted += report.predicted;
  }
  EXPECT_LT(last, first * 0.2);
  EXPECT_GE(predicted, 60);
}

TEST(HybridTrainerTest, wrongSchedulesAndPredictionsAreErrors) {
  HybridModel model(Mlp(), lossOf);
  HybridOptimizer optimizer = sgd();
  for (const HybridSchedule &wrong :
       {HybridSchedule{.warmup = -1}, HybridSchedule{.full = 0},
        HybridSchedule{.history = 0}, HybridSchedule{.worst_loss = 0}})
    EXPECT_THROW(HybridTrainer(model, optimizer, wrong), sn::Error);
  EXPECT_THROW(HybridTrainer(model, optimizer, {}, nullptr), sn::Error);
  HybridTrainer trainer(model, optimizer,
                        {.warmup = 0, .full = 1, .predict = 1},
                        [](auto) { return sn::ones({3}); });
  trainer.step(batchOf(2, 1));
  EXPECT_THROW(trainer.step(batchOf(2, 1)), sn::Error);
}

} // namespace
