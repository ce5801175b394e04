/// What metrics say of what is absent, of NaN, and of what does not fit.
#include "frontend/ElementwiseFunctions.h"
#include <sinter/Metrics.h>

#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sn = sinter;
namespace sm = sinter::metrics;
using Average = sm::Average;
using Task = sm::Task;

namespace {
constexpr float nanValue = std::numeric_limits<float>::quiet_NaN();

sn::Tensor classes(const std::vector<int64_t> &values) {
  return sn::tensor(values, {int64_t(values.size())});
}

/// Scores that name these classes.
sn::Tensor scoresOf(const std::vector<int64_t> &values, int64_t number) {
  return sn::one_hot(classes(values), number).to(sn::DType::f32);
}

template <typename F> std::string messageOf(F function) {
  try {
    function();
  } catch (const sn::Error &error) {
    EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
    return error.what();
  }
  return "no error";
}

/// Whether the message names the metric and a line of this file.
void expectNames(const std::string &message, const std::string &metric) {
  EXPECT_EQ(message.rfind(metric + ": ", 0), 0U) << message;
  EXPECT_NE(message.find("EdgeTest.cpp:"), message.npos) << message;
}
} // namespace

TEST(MetricEdges, AClassThatIsNeitherTrueNorPredictedIsLeftOutOfTheMean) {
  sm::Recall recall({.classes = 5});
  recall.update({scoresOf({0, 1, 1}, 5), classes({0, 1, 0})});
  EXPECT_DOUBLE_EQ(recall.value(), (0.5 + 1) / 2);
  sm::Precision each({.classes = 5, .average = Average::none});
  each.update({scoresOf({0, 1, 1}, 5), classes({0, 1, 0})});
  std::vector<sm::Value> values = each.values();
  ASSERT_EQ(values.size(), 5U);
  EXPECT_EQ(values[1].name, "precision.1");
  EXPECT_DOUBLE_EQ(values[1].value, 0.5);
  EXPECT_EQ(values[4].value, 0);
}

TEST(MetricEdges, WhereNothingDividesTheValueIsZero) {
  sm::Precision precision({.task = Task::binary});
  sm::F1 f1({.task = Task::binary});
  sm::Iou iou({.task = Task::binary});
  sm::ClassInput none{sn::tensor({-1.f, -2.f}), classes({0, 0})};
  precision.update(none);
  f1.update(none);
  iou.update(none);
  EXPECT_EQ(precision.value(), 0);
  EXPECT_EQ(f1.value(), 0);
  EXPECT_EQ(iou.value(), 0);
}

TEST(MetricEdges, OfOneClassThereIsNoArea) {
  sm::Auroc area;
  area.update({sn::tensor({1.f, -1.f}), classes({1, 1})});
  EXPECT_TRUE(std::isnan(area.value()));
  sm::Auroc binned({.bins = 10});
  binned.update({sn::tensor({1.f, -1.f}), classes({0, 0})});
  EXPECT_TRUE(std::isnan(binned.value()));
  EXPECT_EQ(binned.bound(), 0);
}

TEST(MetricEdges, ANaNLossOrNumberMakesTheMeanNaN) {
  sm::MeanLoss loss;
  loss.update({sn::tensor({1.f})});
  loss.update({sn::tensor({nanValue})});
  loss.update({sn::tensor({1.f})});
  EXPECT_TRUE(std::isnan(loss.value()));
  loss.reset();
  loss.update({sn::tensor({3.f})});
  EXPECT_EQ(loss.value(), 3);
  sm::MeanSquaredError mse;
  mse.update({sn::tensor({nanValue, 1.f}), sn::tensor({1.f, 1.f})});
  EXPECT_TRUE(std::isnan(mse.value()));
  sm::MeanSquaredError masked;
  masked.update({sn::tensor({nanValue, 1.f}), sn::tensor({1.f, 3.f}),
                 sn::tensor({0, 1})});
  EXPECT_EQ(masked.value(), 4);
}

TEST(MetricEdges, AnInfiniteLossStaysInfinite) {
  sm::MeanLoss loss;
  loss.update({sn::tensor({std::numeric_limits<float>::infinity()})});
  loss.update({sn::tensor({1.f})});
  EXPECT_TRUE(std::isinf(loss.value()));
}

TEST(MetricEdges, ANaNScoreIsTheLargestAndNeverAmongTheRight) {
  sn::Tensor scores = sn::tensor({{0.f, nanValue, 9.f}, {5.f, 1.f, 2.f}});
  sm::Accuracy accuracy({.classes = 3});
  accuracy.update({scores, classes({1, 0})});
  EXPECT_EQ(accuracy.value(), 1);
  sm::TopKAccuracy top(2, {.classes = 3});
  top.update({scores, classes({1, 0})});
  EXPECT_EQ(top.value(), 0.5);
  sm::Accuracy binary({.task = Task::binary});
  binary.update({sn::tensor({nanValue, nanValue}), classes({0, 1})});
  EXPECT_EQ(binary.value(), 0.5);
}

TEST(MetricEdges, ACurveHasNoValueOfNaNScores) {
  sm::ClassInput input{sn::tensor({nanValue, 1.f, 0.f}), classes({1, 1, 0})};
  sm::Auroc area;
  area.update(input);
  EXPECT_TRUE(std::isnan(area.value()));
  sm::Auroc binned({.bins = 10});
  binned.update(input);
  EXPECT_EQ(
      messageOf([&] { binned.value(); }).rfind("auroc: 1 scores are NaN", 0),
      0U);
}

TEST(MetricEdges, EqualScoresAreRankedInTheirOrder) {
  sm::TopKAccuracy top(2, {.classes = 3});
  top.update({sn::zeros({3, 3}), classes({0, 1, 2})});
  EXPECT_DOUBLE_EQ(top.value(), 2.0 / 3);
  sm::Auroc area;
  area.update({sn::zeros({4}), classes({0, 1, 1, 0})});
  EXPECT_EQ(area.value(), 0.5);
}

TEST(MetricEdges, ATargetThatIsNoClassIsAnErrorOfWhoReads) {
  sm::Accuracy accuracy({.classes = 3});
  accuracy.update({scoresOf({0, 1, 2}, 3), classes({0, 7, -1})});
  EXPECT_EQ(messageOf([&] {
              accuracy.value();
            }).rfind("accuracy: 2 targets or predictions are not in 0..2", 0),
            0U);
  accuracy.reset();
  accuracy.update({scoresOf({0, 1}, 3), classes({0, 0})});
  EXPECT_EQ(accuracy.value(), 0.5);
  sm::F1 binary({.task = Task::binary});
  binary.update({sn::tensor({1.f, 1.f}), sn::tensor({0.5f, 1.f})});
  EXPECT_THROW(binary.value(), sn::Error);
}

TEST(MetricEdges, HalfFloatsAndTargetsOfAnyIntegersAreTaken) {
  for (sn::DType type : {sn::DType::f16, sn::DType::bf16, sn::DType::f64})
    for (sn::DType kind :
         {sn::DType::u8, sn::DType::i32, sn::DType::i64, sn::DType::boolean}) {
      sm::Accuracy accuracy({.classes = 2});
      accuracy.update(
          {scoresOf({0, 1, 1}, 2).to(type), classes({0, 1, 0}).to(kind)});
      EXPECT_DOUBLE_EQ(accuracy.value(), 2.0 / 3);
      sm::MeanLoss loss;
      loss.update({sn::tensor({0.5f}).to(type)});
      EXPECT_EQ(loss.value(), 0.5);
    }
}

TEST(MetricEdges, AnEmptyBatchChangesNothing) {
  sm::Accuracy accuracy({.classes = 2});
  sm::R2Score r2;
  sm::Auroc area({.task = Task::multiclass, .classes = 2});
  sm::ClassInput some{sn::tensor({{1.f, 0.f}, {0.f, 1.f}}), classes({0, 1})};
  sm::ClassInput none{sn::zeros({0, 2}),
                      sn::tensor(std::vector<int64_t>(), {0})};
  for (const sm::ClassInput &input : {none, some, none}) {
    accuracy.update(input);
    area.update(input);
  }
  EXPECT_EQ(accuracy.value(), 1);
  EXPECT_EQ(area.value(), 1);
  r2.update({sn::tensor({1.f, 2.f}), sn::tensor({1.f, 3.f})});
  r2.update({sn::zeros({0}), sn::zeros({0})});
  EXPECT_DOUBLE_EQ(r2.value(), 0.5);
}

TEST(MetricEdges, ShapesThatDoNotFitNameTheMetricAndTheLine) {
  sm::Accuracy accuracy({.classes = 3});
  expectNames(
      messageOf([&] { accuracy.update({sn::zeros({2, 4}), classes({0, 1})}); }),
      "accuracy");
  expectNames(messageOf([&] {
                accuracy.update({sn::zeros({2, 3}), classes({0, 1, 2})});
              }),
              "accuracy");
  expectNames(messageOf([&] { accuracy.update({{}, classes({0})}); }),
              "accuracy");
  expectNames(messageOf([&] {
                accuracy.update({sn::zeros({2, 3}), sn::tensor({0.f, 1.f})});
              }),
              "accuracy");
  expectNames(messageOf([&] {
                accuracy.update(
                    {sn::zeros({2, 3}), classes({0, 1}), sn::ones({3})});
              }),
              "accuracy");
  sm::MeanAbsoluteError mae;
  expectNames(messageOf([&] { mae.update({sn::zeros({2}), sn::zeros({3})}); }),
              "mae");
  sm::Auroc area;
  expectNames(messageOf([&] { area.update({classes({1}), classes({1})}); }),
              "auroc");
  sm::Ssim ssim;
  expectNames(messageOf([&] {
                ssim.update(
                    {sn::zeros({1, 1, 8, 20}), sn::zeros({1, 1, 8, 20})});
              }),
              "ssim");
}

TEST(MetricEdges, OptionsThatMeanNothingNameTheMetricAndTheLine) {
  expectNames(messageOf([] { sm::Accuracy accuracy({.classes = 1}); }),
              "accuracy");
  expectNames(messageOf([] { sm::TopKAccuracy top(4, {.classes = 3}); }),
              "top4");
  expectNames(messageOf([] { sm::FBeta f(-1, {.classes = 3}); }), "f_beta");
  expectNames(messageOf([] { sm::Auroc area({.bins = 1}); }), "auroc");
  expectNames(messageOf([] { sm::Ssim ssim({.size = 4}); }), "ssim");
  expectNames(messageOf([] { sm::Psnr psnr(0); }), "psnr");
  expectNames(messageOf([] { sm::Bleu bleu({.order = 0}); }), "bleu");
}

TEST(MetricEdges, SumsOfManySmallNumbersLoseNothing) {
  // In f32 alone 1 + 1e-8 is 1, however often.
  sm::MeanLoss loss;
  loss.update({sn::tensor({1.f})});
  for (int i = 0; i < 1000; ++i)
    loss.update({sn::tensor({1e-8f})});
  EXPECT_NEAR(loss.value() * 1001, 1 + 1e-5, 1e-9);
}

TEST(MetricEdges, PaddingAndIgnoredTargetsTakeNoPart) {
  sm::Accuracy accuracy({.classes = 3, .ignore_index = -100});
  accuracy.update({scoresOf({0, 1, 2, 2}, 3), classes({0, 0, -100, 0}),
                   sn::tensor({1, 1, 1, 0})});
  EXPECT_EQ(accuracy.value(), 0.5);
  sm::MetricSet<sm::ClassificationOutput> metrics;
  metrics.add(sm::MeanLoss());
  metrics.update({sn::full({}, 2.f), scoresOf({0, 1}, 3), classes({0, 1}),
                  sn::tensor({1, 0})});
  metrics.update({sn::full({}, 1.f), scoresOf({0, 1}, 3), classes({0, 1}),
                  sn::tensor({1, 1})});
  EXPECT_DOUBLE_EQ(metrics.value("loss"), (2.0 * 1 + 1.0 * 2) / 3);
}
