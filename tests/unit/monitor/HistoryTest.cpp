/// Curves in bounded memory.
#include "frontend/monitor/History.h"
#include "frontend/monitor/Figures.h"
#include "frontend/monitor/Progress.h"
#include "tests/unit/monitor/TrainingFolder.h"

#include <sinter/train/Logs.h>

#include <cmath>
#include <limits>

namespace sinter::train {

TEST(Curve, AMillionReadingsAreAThousandPoints) {
  Curve curve;
  constexpr int64_t count = 1'000'000;
  for (int64_t at = 1; at <= count; ++at)
    curve.add(at, 1, at == 777'777 ? 1e6 : at % 2);
  EXPECT_LE(curve.points.size(), Curve::most);
  EXPECT_GE(curve.points.size(), Curve::most / 2 - 1);
  EXPECT_EQ(curve.readings, uint64_t(count));
  EXPECT_EQ(curve.points.back().x, count);
  uint64_t total = 0;
  double most = 0;
  int64_t before = 0;
  for (const Point &point : curve.points) {
    total += point.total;
    most = std::max(most, point.most);
    EXPECT_GT(point.x, before);
    before = point.x;
    if (point.most == 1 && point.total == curve.stride) {
      EXPECT_EQ(point.mean(), 0.5);
    }
  }
  EXPECT_EQ(total, uint64_t(count));
  EXPECT_EQ(most, 1e6); // a spike is not lost
}

TEST(Curve, WhatIsNoNumberIsAGap) {
  Curve curve;
  curve.better = Better::lower;
  double infinity = std::numeric_limits<double>::infinity();
  for (double value : {1.0, std::nan(""), infinity, 0.5})
    curve.add(1, 3, value);
  ASSERT_EQ(curve.points.size(), 4u);
  EXPECT_EQ(curve.points[1].count, 0u);
  EXPECT_EQ(curve.points[2].count, 0u);
  EXPECT_EQ(curve.best, 0.5);
  EXPECT_EQ(curve.bestEpoch, 3);
}

TEST(History, RunThatGoesOnHasTheCurvesThatAreKept) {
  TrainingFolder folder;
  Listeners listeners;
  listeners.add(std::make_shared<CsvFile>());
  SmallTraining training(listeners, folder.path());
  training.begin();
  training.epochs(1, 3);
  listeners.flush();
  History history;
  training.run.resume = Resume{2, 7, 2};
  history.on(training.run);
  const Curve *steps = history.find("Loss", Split::train, false);
  const Curve *epochs = history.find("Accuracy", Split::valid, true);
  ASSERT_TRUE(steps && epochs);
  EXPECT_EQ(steps->readings, 7u);
  EXPECT_EQ(steps->points.back().x, 7);
  EXPECT_EQ(epochs->readings, 2u);
  EXPECT_EQ(epochs->points[1].x, 6);
  EXPECT_EQ(epochs->best, 21);
  EXPECT_EQ(epochs->bestEpoch, 2);
  EXPECT_EQ(epochs->unit, "%");
  EXPECT_EQ(history.trainSteps(), 7);
}

TEST(Progress, RateAndTimeThatIsLeft) {
  Progress progress;
  RunBegin run;
  run.epochs = 2;
  run.train_steps = 100;
  run.time = 0;
  progress.on(run);
  EXPECT_EQ(progress.share(), 0);
  EXPECT_FALSE(progress.runLeft());
  progress.on(EpochBegin{.epoch = 1, .train_steps = 100, .time = 0});
  for (int64_t step = 1; step <= 50; ++step)
    progress.on(StepEnd{.step = step,
                        .steps = 100,
                        .total_step = step,
                        .time = double(step) * 0.5});
  EXPECT_DOUBLE_EQ(progress.rate(), 2);
  EXPECT_DOUBLE_EQ(*progress.share(), 0.25);
  EXPECT_DOUBLE_EQ(*progress.epochLeft(), 25);
  EXPECT_DOUBLE_EQ(*progress.runLeft(), 75);
}

TEST(Progress, RunThatGoesOnCountsWhatItDoesItself) {
  Progress progress;
  RunBegin run;
  run.epochs = 4;
  run.train_steps = 10;
  run.time = 0;
  run.resume = Resume{2, 20, 0};
  progress.on(run);
  EXPECT_DOUBLE_EQ(*progress.share(), 0.5);
  progress.on(
      StepEnd{.epoch = 3, .step = 5, .steps = 10, .total_step = 25, .time = 5});
  EXPECT_DOUBLE_EQ(*progress.runLeft(), 15);
}

TEST(Figures, NumbersForPeople) {
  EXPECT_EQ(shortNumber(0.123456), "0.1235");
  EXPECT_EQ(shortNumber(1.23456), "1.235");
  EXPECT_EQ(shortNumber(12.3456), "12.35");
  EXPECT_EQ(shortNumber(1234.5), "1234");
  EXPECT_EQ(shortNumber(0.0000123), "1.230e-05");
  EXPECT_EQ(shortNumber(3e9), "3.000e+09");
  EXPECT_EQ(shortNumber(0), "0");
  EXPECT_EQ(shortNumber(std::nan("")), "nan");
  EXPECT_EQ(shortBytes(999), "999 B");
  EXPECT_EQ(shortBytes(1'234'000'000), "1.2 GB");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(duration(7), "0:07");
  EXPECT_EQ(duration(3 * 3600 + 62), "3:01:02");
  EXPECT_EQ(duration(90'000), "1d 01:00");
  EXPECT_EQ(duration(std::nan("")), "?");
  EXPECT_EQ(timestamp(0.0125), "1970-01-01T00:00:00.013Z");
  EXPECT_EQ(timestamp(1e300), "?");
}

} // namespace sinter::train
