/// What is evaluated by itself when much is pending, and what is not.
#include "tests/Sanitized.h"
#include "tests/unit/frontend/Counting.h"

#include "frontend/Pending.h"

#include <sinter/Param.h>

#include <cmath>
#include <functional>
#include <set>
#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;

namespace {
/// Other limits while it lives, and what the log says.
class Pending : public testing::Test {
protected:
  void SetUp() override {
    sn::set_log([this](sn::LogLevel, std::string_view text) {
      messages.emplace_back(text);
    });
  }
  void TearDown() override {
    sn::set_log({});
    sn::set_pending_limits(usual);
  }
  sn::PendingLimits usual = sn::pending_limits();
  std::vector<std::string> messages;
};
} // namespace

TEST_F(Pending, LimitsAreChecked) {
  EXPECT_EQ(usual.bytes, size_t(4) << 30);
  sn::set_pending_limits({.ops = 5, .bytes = 6, .look_every = 7});
  sn::PendingLimits now = sn::pending_limits();
  EXPECT_EQ(now.ops, 5u);
  EXPECT_EQ(now.bytes, 6u);
  EXPECT_EQ(now.look_every, 7u);
  expectError(sn::ErrorKind::invalid_argument, "set_pending_limits", [] {
    sn::set_pending_limits({.ops = 1, .bytes = 0, .look_every = 1});
  });
}

TEST_F(Pending, AChainIsCutIntoEqualPieces) {
  sn::set_pending_limits({.ops = 64, .look_every = 16});
  uint64_t before = flushesOf("limit"), made = programsMade();
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f});
  for (int i = 0; i < 3000; ++i)
    x = x + 1.0;
  EXPECT_GE(flushesOf("limit"), before + 40);
  EXPECT_EQ(x.to_vector<float>(), (Values{3001, 3002, 3003}));
  EXPECT_LE(programsMade(), made + 3);
}

TEST_F(Pending, ARecurrenceIsCutWhereItRepeats) {
  sn::set_pending_limits({.ops = 50, .look_every = 9});
  sn::Tensor w = sn::tensor(Values{.5f, .25f, -.5f, .125f}, {2, 2});
  auto step = [&](const sn::Tensor &h) {
    sn::Tensor wide = sn::concat({sn::matmul(h, w), h}, 1);
    return sn::tanh(sn::narrow(wide, 1, 1, 2) * 1.5 + h);
  };
  sn::Tensor h = sn::ones({2, 2});
  h.eval();
  uint64_t before = flushesOf("limit"), made = programsMade();
  for (int i = 0; i < 500; ++i)
    h = step(h);
  sn::Tensor pieces = h;
  EXPECT_GE(flushesOf("limit"), before + 30);
  Values found = pieces.to_vector<float>();
  EXPECT_LE(programsMade(), made + 4) << "of equal pieces";
  sn::set_pending_limits(usual);
  h = sn::ones({2, 2});
  for (int i = 0; i < 500; ++i)
    h = step(h);
  Values whole = h.to_vector<float>();
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(found[i], whole[i], 1e-4);
}

TEST_F(Pending, ResultsThatAreOnlyHeldAreEvaluatedInPieces) {
  // 256 bytes each, 40 of them.
  sn::set_pending_limits({.bytes = 1024, .look_every = 8});
  uint64_t before = flushesOf("limit"), made = programsMade();
  std::vector<sn::Tensor> results;
  for (int i = 0; i < 40; ++i) {
    sn::Tensor x = sn::tensor(Values(64, float(i)));
    results.push_back(sn::sqrt(sn::exp(x * 0.125) + 3.0));
  }
  EXPECT_GT(flushesOf("limit"), before);
  EXPECT_LE(programsMade(), made + 2);
  for (int i = 0; i < 40; ++i)
    EXPECT_NEAR(results[i].to_vector<float>()[63],
                std::sqrt(std::exp(float(i) * 0.125f) + 3.f), 1e-3)
        << i;
}

TEST_F(Pending, TemporariesDoNotCount) {
  // Each of the values below has 16 KiB; few at a time have a name.
  sn::set_pending_limits({.bytes = 64 << 10, .look_every = 8});
  uint64_t before = flushesOf("limit");
  sn::Tensor x = sn::ones({64, 64});
  x.eval();
  for (int round = 0; round < 3; ++round) {
    sn::Tensor y = x;
    for (int i = 0; i < 200; ++i)
      y = y * 0.5 + 0.25;
    sn::sum(y).item<float>();
  }
  EXPECT_EQ(flushesOf("limit"), before);
}

namespace {
/// Gradient descent on the sum of squares, in many small parts.
struct Parts {
  std::vector<sn::Param> weights;
  sn::optim::Sgd sgd{{.lr = 0.125}};

  explicit Parts(size_t count, int64_t width) {
    for (size_t i = 0; i < count; ++i)
      weights.emplace_back("w" + std::to_string(i), sn::Dims{width},
                           sn::init::ones());
  }
  sn::Tensor step() {
    sn::Tensor loss = sn::zeros({});
    for (const sn::Param &weight : weights)
      loss = loss + sn::sum(sn::tanh(weight * 1.5) * weight);
    sn::Gradients gradients = loss.backward();
    sgd.step(weights, std::move(gradients));
    return loss;
  }
};
} // namespace

TEST_F(Pending, AStepWhoseProgramIsThereIsNotCut) {
  Parts parts(20, 5);
  uint64_t made = programsMade();
  for (int i = 0; i < 4; ++i) {
    parts.step().item<float>();
    if (i == 0)
      sn::set_pending_limits(
          {.ops = 10000, .bytes = 1 << 20, .look_every = 16});
    if (i == 2) // now it is known, so this is far too little and yet nothing
      sn::set_pending_limits({.ops = 40, .bytes = 64, .look_every = 16});
  }
  uint64_t before = flushesOf("limit");
  for (int i = 0; i < 20; ++i) {
    sn::Tensor loss = parts.step();
    if (i % 7 == 3)
      sn::sum(parts.weights[0]).item<float>();
    loss.item<float>();
  }
  EXPECT_EQ(flushesOf("limit"), before);
  // First values, the step from its loss and from a weight, the weight's sum.
  EXPECT_LE(programsMade(), made + 4);
}

TEST_F(Pending, AnUnknownStepIsCutAtTheSamePlacesEachTime) {
  // A step is long beside what lies between two looks, so that each has one
  // over the limit wherever they fall.
  sn::set_pending_limits({.ops = 40, .bytes = 1 << 20, .look_every = 16});
  Parts parts(60, 6);
  // Where the first is looked at depends on what was recorded before.
  for (int i = 0; i < 4; ++i)
    parts.step().item<float>();
  uint64_t made = programsMade();
  float last = 0;
  std::set<uint64_t> pieces;
  for (int i = 0; i < 10; ++i) {
    uint64_t before = flushesOf("limit");
    last = parts.step().item<float>();
    pieces.insert(flushesOf("limit") - before);
  }
  EXPECT_EQ(pieces.size(), 1u) << "numbers of pieces of a step";
  EXPECT_GT(*pieces.begin(), 10u);
  EXPECT_EQ(programsMade(), made);
  sn::set_pending_limits(usual);
  Parts whole(60, 6);
  float expected = 0;
  for (int i = 0; i < 14; ++i)
    expected = whole.step().item<float>();
  EXPECT_NEAR(last, expected, 1e-4 * std::abs(expected));
}

TEST_F(Pending, OverTheLimitAStepEndsAtTheOptimizer) {
  // 6 KiB of new parameters are over the limit, not over twice of it.
  sn::set_pending_limits({.bytes = 4500, .look_every = 16});
  Parts parts(6, 256);
  uint64_t before = flushesOf("limit"), made = programsMade();
  for (int i = 0; i < 8; ++i) {
    sn::Tensor loss = parts.step();
    uint64_t run = sn::stats().programs_run;
    if (i > 0) {
      loss.item<float>();
      EXPECT_EQ(sn::stats().programs_run, run) << "the step ran before";
    }
  }
  EXPECT_GE(flushesOf("limit"), before + 7);
  EXPECT_LE(programsMade(), made + 3);
}

TEST_F(Pending, WhatFailedIsNotEvaluatedForOthers) {
  sn::set_pending_limits({.ops = 40, .look_every = 8});
  sn::Tensor picked = sn::gather(sn::tensor({1.f, 2.f}),
                                 sn::tensor(std::vector<int64_t>{7}), 0);
  EXPECT_THROW(picked.to_vector<float>(), sn::Error);
  sn::Tensor bad = picked * 2.0;
  sn::Tensor x = sn::tensor({1.f});
  for (int i = 0; i < 300; ++i)
    x = x + 1.0;
  EXPECT_EQ(x.item<float>(), 301.f);
  EXPECT_THROW(bad.to_vector<float>(), sn::Error);
}

TEST_F(Pending, LoopsOverStepsStayWhole) {
  auto loops = [] {
    sn::Tensor xs = sn::ones({5, 2}), h = sn::zeros({2});
    for (int i = 0; i < 20; ++i) {
      auto [carries, ys] = sn::scan(
          [](auto c, auto x) {
            sn::Tensor next = sn::tanh(c[0] * 0.5 + x[0]) * 0.5 + c[0] * 0.25;
            return sn::ScanStep{{next}, {next * 2.0}};
          },
          {h}, {xs});
      h = carries[0] + sn::sum(ys[0], 0) * 0.125;
    }
    return h.to_vector<float>();
  };
  sn::set_pending_limits({.ops = 12, .look_every = 4});
  uint64_t before = flushesOf("limit");
  Values found = loops();
  EXPECT_GT(flushesOf("limit"), before);
  sn::set_pending_limits(usual);
  Values whole = loops();
  for (size_t i = 0; i < whole.size(); ++i)
    EXPECT_NEAR(found[i], whole[i], 1e-5);
}

TEST_F(Pending, OtherThreadsWorkIsTheirs) {
  sn::set_pending_limits({.ops = 40, .look_every = 8});
  sn::Tensor theirs;
  std::thread([&] {
    theirs = sn::tensor({2.f});
    for (int i = 0; i < 20; ++i)
      theirs = theirs * 1.0625 + 0.5;
  }).join();
  sn::Tensor x = sn::tensor({1.f});
  for (int i = 0; i < 300; ++i)
    x = x + 1.0;
  EXPECT_FALSE(theirs.node()->isReady());
  EXPECT_EQ(x.item<float>(), 301.f);
  EXPECT_FALSE(theirs.node()->isReady());
}

TEST_F(Pending, JittedCallsAreLookedAtToo) {
  sn::set_pending_limits({.ops = 40, .look_every = 8});
  auto block = sn::jit([](const sn::Tensor &x) {
    sn::Tensor y = x;
    for (int i = 0; i < 10; ++i)
      y = y * 0.5 + 1.0;
    return y;
  });
  uint64_t before = flushesOf("limit"), made = programsMade();
  sn::Tensor x = sn::tensor({1.f, 5.f});
  for (int i = 0; i < 100; ++i)
    x = block(x);
  EXPECT_GT(flushesOf("limit"), before);
  EXPECT_NEAR(x.to_vector<float>()[1], 2.f, 1e-5);
  EXPECT_LE(programsMade(), made + 3);
}

TEST_F(Pending, LongChainsEnd) {
  uint64_t before = flushesOf("limit");
  sn::Tensor x = sn::tensor({1.f, 2.f});
  for (int i = 0; i < 33000; ++i)
    x = x + 1.0;
  EXPECT_EQ(x.to_vector<float>(), (Values{33001, 33002}));
  EXPECT_EQ(flushesOf("limit"), before) << "no step is that long";
}

TEST_F(Pending, AMillionRecordedOpsEnd) {
#if defined(__SANITIZE_THREAD__)
  constexpr bool isWatched = true;
#else
  const bool isWatched = sn::hasAddressSanitizer();
#endif
  // Each takes several times as long where it is.
  const int count = isWatched ? 100000 : 1000000;
  uint64_t made = programsMade();
  sn::set_pending_limits({.ops = 4096, .look_every = 1024});
  sn::Tensor x = sn::tensor({1.f, 2.f});
  for (int i = 0; i < count; ++i)
    x = x * 0.5;
  x = x + 1.0;
  EXPECT_EQ(x.to_vector<float>(), (Values{1, 1}));
  EXPECT_LE(programsMade(), made + 3);
}
