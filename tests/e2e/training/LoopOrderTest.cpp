/// The training loop in every order a user may write it: the numbers are the
/// same, few programs are made, none from step 4 on, and memory is flat.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>

using namespace training;

namespace {

constexpr int steps = 1000;
/// Less than a node a step; tables with a fixed limit may still fill up.
constexpr int64_t heapAllowance = 1 << 20;

/// What one kind of loop did.
struct Outcome {
  uint64_t programs = 0;     ///< made in all
  uint64_t programsLate = 0; ///< made from step 4 on
  std::vector<float> losses; ///< of the first 20 steps
  int64_t bytesGrown = 0;    ///< from step 20 to the end
  int64_t heapGrown = 0;
};

struct Loop {
  Mlp model;
  sn::optim::Adam adam{{.lr = 0.01}};
  sn::Tensor x = images(6), y = labels(6);
  std::optional<Mlp> kept;
  explicit Loop(int64_t width) : model(width) {}
};

/// Runs `step`, which gives the step's loss, on a fresh model. `width` must be
/// another one in each test.
Outcome run(int64_t width, const std::function<float(Loop &, int)> &step) {
  sn::manual_seed(width);
  Loop loop(width);
  Outcome outcome;
  uint64_t before = programsMade(), early = 0;
  size_t bytes = 0, heap = 0;
  for (int i = 1; i <= steps; ++i) {
    if (i == 4)
      early = programsMade();
    if (i == 21) {
      bytes = bytesInUse();
      heap = heapInUse();
    }
    float loss = step(loop, i);
    if (i <= 20)
      outcome.losses.push_back(loss);
  }
  outcome.programs = programsMade() - before;
  outcome.programsLate = programsMade() - early;
  outcome.bytesGrown = bytesInUse() - bytes;
  outcome.heapGrown = heapInUse() - heap;
  return outcome;
}

void expectFlat(const Outcome &outcome) {
  EXPECT_EQ(outcome.programsLate, 0u) << missesText();
  EXPECT_LE(outcome.bytesGrown, 0);
  EXPECT_LE(outcome.heapGrown, heapAllowance);
  EXPECT_LT(outcome.losses.back(), outcome.losses.front());
}

sn::Tensor lossOf(const Loop &loop) {
  return sn::cross_entropy(loop.model.forward(loop.x), loop.y);
}

/// The order of the first example.
float plainStep(Loop &loop, int) {
  sn::Tensor loss = lossOf(loop);
  sn::Gradients grads = loss.backward();
  loop.adam.step(loop.model, std::move(grads));
  return loss.item<float>();
}

float itemFirst(Loop &loop, int) {
  sn::Tensor loss = lossOf(loop);
  float value = loss.item<float>();
  loop.adam.step(loop.model, loss.backward());
  return value;
}

} // namespace

TEST(LoopOrder, PlainIsTwoPrograms) {
  Outcome outcome = run(16, plainStep);
  expectFlat(outcome);
  EXPECT_EQ(outcome.programs, 2u) << missesText();
}

TEST(LoopOrder, OneStepIsOneProgram) {
  sn::manual_seed(16);
  Loop loop(16);
  for (int i = 0; i < 3; ++i)
    plainStep(loop, i);
  uint64_t before = sn::stats().programs_run;
  for (int i = 0; i < 10; ++i)
    plainStep(loop, i);
  EXPECT_EQ(sn::stats().programs_run - before, 10u);
}

TEST(LoopOrder, ItemBeforeBackward) {
  Outcome plain = run(17, plainStep);
  Outcome outcome = run(17, itemFirst);
  expectFlat(outcome);
  EXPECT_LE(outcome.programs, 4u) << missesText();
  ASSERT_EQ(outcome.losses.size(), plain.losses.size());
  for (size_t i = 0; i < plain.losses.size(); ++i)
    EXPECT_NEAR(outcome.losses[i], plain.losses[i], 1e-5);
}

TEST(LoopOrder, ItemFirstAloneMakesAtMostFour) {
  Outcome outcome = run(18, itemFirst);
  EXPECT_LE(outcome.programs, 4u) << missesText();
}

TEST(LoopOrder, PredictionAfterTheStepIsTheOldOne) {
  Outcome outcome = run(19, [](Loop &loop, int step) {
    sn::Tensor x = images(1), target = labels(1);
    sn::Tensor prediction = loop.model.forward(x);
    float expected = 0;
    bool check = step <= 3;
    if (check) { // on a model of its own, so that nothing is read early
      Mlp copy = loop.model;
      expected = sn::sum(copy.forward(x)).item<float>();
    }
    sn::Tensor loss = sn::cross_entropy(prediction, target);
    loop.adam.step(loop.model, loss.backward());
    float after = sn::sum(prediction).item<float>();
    if (check) {
      EXPECT_NEAR(after, expected, 1e-6);
    }
    return loss.item<float>();
  });
  expectFlat(outcome);
}

TEST(LoopOrder, BestModelIsKept) {
  Outcome plain = run(20, plainStep);
  std::vector<float> kept;
  Outcome outcome = run(20, [&](Loop &loop, int step) {
    float loss = plainStep(loop, step);
    if (step % 100 == 50) {
      loop.kept = loop.model;
      kept = loop.model.fc1.weight.tensor().to_vector<float>();
    }
    if (step % 100 == 53) {
      EXPECT_EQ(loop.kept->fc1.weight.tensor().to_vector<float>(), kept);
    }
    return loss;
  });
  EXPECT_EQ(outcome.losses, plain.losses);
  EXPECT_LE(outcome.programs, 1u) << missesText(); // beyond plain's
  EXPECT_LE(outcome.bytesGrown, 4096) << "one more model";
}

TEST(LoopOrder, BestModelFromTheFirstStep) {
  Outcome outcome = run(21, [](Loop &loop, int step) {
    float loss = plainStep(loop, step);
    if (step <= 2 || step == 500)
      loop.kept = loop.model;
    return loss;
  });
  expectFlat(outcome);
  EXPECT_LE(outcome.programs, 3u) << missesText();
}

TEST(LoopOrder, MovingAverage) {
  Outcome outcome = run(22, [](Loop &loop, int) {
    if (!loop.kept)
      loop.kept = loop.model;
    sn::Tensor loss = lossOf(loop);
    loop.adam.step(loop.model, loss.backward());
    std::vector<sn::Param *> params;
    loop.model.visit(
        [&](const std::string &, sn::Param &p) { params.push_back(&p); });
    size_t next = 0;
    loop.kept->visit([&](const std::string &, sn::Param &mean) {
      sn::no_grad guard;
      sn::Tensor now = params[next++]->tensor();
      mean.set(mean * sn::scalar(0.9f) + now * sn::scalar(0.1f));
    });
    return loss.item<float>();
  });
  expectFlat(outcome);
  EXPECT_LE(outcome.programs, 4u) << missesText();
}

TEST(LoopOrder, LossReadNowAndThen) {
  Outcome outcome = run(23, [](Loop &loop, int step) {
    sn::Tensor loss = lossOf(loop);
    loop.adam.step(loop.model, loss.backward());
    return step <= 10 || step % 50 == 0 ? loss.item<float>() : 0.f;
  });
  EXPECT_LE(outcome.bytesGrown, 0);
  EXPECT_LE(outcome.heapGrown, heapAllowance);
  EXPECT_LE(outcome.programs, 3u) << missesText();
}

TEST(LoopOrder, NothingIsEverRead) {
  Outcome outcome = run(24, [](Loop &loop, int) {
    loop.adam.step(loop.model, lossOf(loop).backward());
    return 0.f;
  });
  EXPECT_EQ(outcome.programsLate, 0u) << missesText();
  EXPECT_LE(outcome.bytesGrown, 0);
  EXPECT_LE(outcome.heapGrown, heapAllowance);
}
