/// Schedules of learning rates, and their state in files.
#include "tests/unit/nn/Modules.h"

#include <filesystem>
#include <unistd.h>

namespace sn = sinter;
namespace optim = sn::optim;

namespace {
struct Scheduling : testing::Test {
  void TearDown() override { std::filesystem::remove(path); }
  optim::Sgd sgd{{.lr = 0.5}};
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-scheduler-" + std::to_string(::getpid()));
};
} // namespace

TEST_F(Scheduling, BeginsAtOnceAndMovesWithEachStep) {
  optim::Scheduler scheduler(
      sgd, optim::linear_lr({.start_factor = 0.2, .total_iters = 2}));
  EXPECT_DOUBLE_EQ(sgd.lr(), 0.1);
  scheduler.step();
  EXPECT_DOUBLE_EQ(sgd.lr(), 0.3);
  scheduler.step();
  scheduler.step();
  EXPECT_DOUBLE_EQ(scheduler.lr(), 0.5);
  EXPECT_EQ(scheduler.steps(), 3);
}

TEST_F(Scheduling, NoamRisesToItsWarmupAndFallsByRoots) {
  optim::Schedule noam = optim::noam_lr({.d_model = 64, .warmup = 4});
  EXPECT_DOUBLE_EQ(noam(1, 0), 1.0 / 8 / 8);
  EXPECT_DOUBLE_EQ(noam(1, 3), 1.0 / 8 / 2);
  EXPECT_DOUBLE_EQ(noam(2, 15), 2.0 / 8 / 4);
}

TEST_F(Scheduling, SequencesBeginEachPartAtItsZero) {
  optim::Schedule parts = optim::sequential_lr(
      {optim::constant_lr({.factor = 0.1, .total_iters = 100}),
       optim::exponential_lr(0.5),
       optim::lambda_lr([](int64_t step) { return double(step); })},
      {2, 4});
  std::vector<double> rates;
  for (int64_t step = 0; step < 7; ++step)
    rates.push_back(parts(1, step));
  EXPECT_EQ(rates, (std::vector<double>{0.1, 0.1, 1, 0.5, 0, 1, 2}));
  EXPECT_EQ(parts.name(),
            "sequential_lr(constant_lr,exponential_lr,lambda_lr)");
}

TEST_F(Scheduling, OneCycleInThreePhasesComesBackFirst) {
  optim::Schedule cycle = optim::one_cycle_lr({.max_lr = 1,
                                               .total_steps = 10,
                                               .pct_start = 0.3,
                                               .div_factor = 10,
                                               .final_div_factor = 10,
                                               .three_phase = true});
  EXPECT_NEAR(cycle(5, 0), 0.1, 1e-12);
  EXPECT_NEAR(cycle(5, 2), 1, 1e-12);
  EXPECT_NEAR(cycle(5, 4), 0.1, 1e-12);
  EXPECT_NEAR(cycle(5, 9), 0.01, 1e-12);
  EXPECT_NEAR(cycle(5, 50), 0.01, 1e-12);
}

TEST_F(Scheduling, AScheduledTrainingCompilesNothing) {
  sn::nn::Linear model(2, 2);
  optim::Scheduler scheduler(sgd, optim::cosine_annealing_lr({.T_max = 5}));
  auto step = [&] {
    sgd.step(model, sn::sum(model(waves({3, 2}, 0.7))).backward());
    scheduler.step();
    model.weight.tensor().eval();
  };
  step();
  EXPECT_EQ(workOf([&] {
              for (int i = 0; i < 4; ++i)
                step();
            }).programs,
            0u);
}

TEST_F(Scheduling, GoesOnFromAFile) {
  optim::Schedule schedule =
      optim::warmup_lr(3, optim::cosine_annealing_lr({.T_max = 10}), 0.1);
  optim::Scheduler scheduler(sgd, schedule);
  for (int i = 0; i < 5; ++i)
    scheduler.step();
  scheduler.save(path);

  optim::Sgd other({.lr = 123});
  optim::Scheduler again(other, schedule);
  again.load(path);
  EXPECT_EQ(again.steps(), 5);
  EXPECT_EQ(other.lr(), sgd.lr());
  scheduler.step();
  again.step();
  EXPECT_EQ(other.lr(), sgd.lr());

  optim::Scheduler wrong(other, optim::exponential_lr(0.9));
  expectRejected("load", "exponential_lr", [&] { wrong.load(path); });
}

TEST_F(Scheduling, PlateausAreCountedOverFiles) {
  optim::PlateauOptions options{.mode = optim::PlateauMode::max,
                                .factor = 0.5,
                                .patience = 1,
                                .cooldown = 1,
                                .min_lr = 0.2};
  optim::ReduceLROnPlateau scheduler(sgd, options);
  scheduler.step(1);
  scheduler.step(0.5); // one is let pass
  scheduler.save(path);

  optim::Sgd other({.lr = 123});
  optim::ReduceLROnPlateau again(other, options);
  again.load(path);
  for (optim::ReduceLROnPlateau *each : {&scheduler, &again}) {
    each->step(0.5);
    EXPECT_EQ(each->lr(), 0.25);
    each->step(0.5); // cools
    each->step(0.5);
    EXPECT_EQ(each->lr(), 0.25);
    each->step(0.5);
    EXPECT_EQ(each->lr(), 0.2); // no less
    each->step(2);
    EXPECT_EQ(each->lr(), 0.2);
  }
}

TEST_F(Scheduling, NonsenseIsRefused) {
  EXPECT_THROW(optim::step_lr({.step_size = 0}), sn::Error);
  EXPECT_THROW(optim::sequential_lr({optim::constant_lr()}, {3}), sn::Error);
  EXPECT_THROW(optim::one_cycle_lr({.total_steps = 0}), sn::Error);
}
