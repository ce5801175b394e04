/// Branches and loops that values decide about: values, gradients, errors.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Math.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <string_view>
#include <thread>

namespace sn = sinter;
using Values = std::vector<float>;
using Tensors = std::span<const sn::Tensor>;
using List = std::vector<sn::Tensor>;

static sn::Tensor scalar(float value) {
  return sn::tensor({value}).reshape({}).eval();
}

static void refuses(const std::function<void()> &call, std::string_view text) {
  expectError(sn::ErrorKind::invalid_argument, text, call);
}

/// Newton's square root, until it is near.
static List rootOf(const sn::Tensor &x, const sn::WhileOptions &options = {}) {
  return sn::while_loop(
      [&](Tensors c) { return sn::abs(c[0] * c[0] - x) > 1e-3; },
      [&](Tensors c) { return List{(c[0] + x / c[0]) * 0.5, c[1] + 1}; },
      {x, scalar(0).to(sn::DType::i64)}, options);
}

TEST(WhileLoop, RunsWhileItsConditionHolds) {
  for (float x : {1.f, 2.f, 100.f}) {
    List found = rootOf(scalar(x));
    EXPECT_NEAR(found[0].item<float>(), std::sqrt(x), 1e-3) << x;
    double guess = x;
    int64_t rounds = 0;
    for (; std::abs(guess * guess - x) > 1e-3; ++rounds)
      guess = 0.5 * (guess + x / guess);
    EXPECT_EQ(found[1].item<int64_t>(), rounds) << x;
  }
}

TEST(WhileLoop, OfNoRoundsGivesWhatItBeganWith) {
  List found = sn::while_loop([](Tensors c) { return sn::sum(c[0]) > 100.0; },
                              [](Tensors c) { return List{c[0] * 2.0}; },
                              {sn::tensor({1.f, 2.f})});
  EXPECT_EQ(found[0].to_vector<float>(), (Values{1, 2}));
}

TEST(WhileLoop, EndsAfterTheMostRounds) {
  for (int64_t most : {0, 1, 2, 5, 6}) {
    List found = sn::while_loop([](Tensors c) { return c[0] < 5.0; },
                                [](Tensors c) { return List{c[0] + 1.0}; },
                                {scalar(0)}, {.max_rounds = most});
    EXPECT_EQ(found[0].item<float>(), std::min(5.f, float(most)));
  }
}

TEST(WhileLoop, PassesOnWhatItDoesNotCompute) {
  sn::Tensor a = sn::tensor({1.f, 2.f, 3.f}), b = sn::tensor({7.f, 8.f, 9.f});
  for (int64_t rounds : {0, 1, 2, 3}) {
    List found =
        sn::while_loop([&](Tensors c) { return c[2] < rounds; },
                       [](Tensors c) { return List{c[1], c[0], c[2] + 1}; },
                       {a, b, scalar(0).to(sn::DType::i64)});
    bool isTurned = rounds % 2 != 0;
    EXPECT_EQ(found[0].to_vector<float>(),
              isTurned ? (Values{7, 8, 9}) : (Values{1, 2, 3}));
    EXPECT_EQ(found[1].to_vector<float>(),
              isTurned ? (Values{1, 2, 3}) : (Values{7, 8, 9}));
  }
}

/// One program, whatever the number of rounds.
TEST(WhileLoop, IsOneProgram) {
  rootOf(scalar(3))[0].item<float>();
  uint64_t before = programsMade();
  rootOf(scalar(1e6f))[0].item<float>();
  EXPECT_EQ(programsMade(), before) << reasonsText();
}

TEST(WhileLoop, WithoutEndIsCancelled) {
  List found =
      sn::while_loop([](Tensors c) { return c[0] >= 0.0; },
                     [](Tensors c) { return List{c[0] + 1.0}; }, {scalar(0)});
  sn::CancelToken token;
  std::thread watch([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    token.cancel();
  });
  {
    sn::cancel_scope scope(token);
    EXPECT_THROW(found[0].eval(), sn::Cancelled);
  }
  watch.join();
}

TEST(WhileLoop, RefusesWhatDoesNotFit) {
  auto always = [](Tensors c) { return sn::sum(c[0]) > 0.0; };
  auto same = [](Tensors c) { return List{c[0]}; };
  sn::Tensor x = sn::tensor({1.f, 2.f});
  refuses([&] { sn::while_loop(always, same, {}); },
          "while_loop: it needs a condition, a body and a first value");
  refuses([&] { sn::while_loop(always, same, {sn::Tensor()}); },
          "while_loop: a first value is an empty tensor");
  refuses([&] { sn::while_loop([](Tensors c) { return c[0]; }, same, {x}); },
          "while_loop: the condition is f32[2], not a boolean scalar");
  refuses([&] { sn::while_loop(always, [](Tensors) { return List{}; }, {x}); },
          "while_loop: the body gives 0 values, there are 1");
  refuses(
      [&] {
        sn::while_loop(always, [](Tensors c) { return List{sn::sum(c[0])}; },
                       {x});
      },
      "while_loop: a round must not change a value's type: value 0 is f32[2] "
      "and becomes f32[]");
  refuses([&] { sn::while_loop(always, same, {x}, {.max_rounds = -1}); },
          "while_loop: at most -1 rounds");
  refuses(
      [&] {
        sn::while_loop(
            always, [&](Tensors c) { return List{c[0] * c[0].item<float>()}; },
            {scalar(1)});
      },
      "while_loop: the body reads a value");
}

/// Collatz: how many steps each number takes, by loops in loops.
TEST(WhileLoop, StandsInLoopsAndBranches) {
  sn::no_grad guard;
  auto steps = [](const sn::Tensor &n) {
    return sn::while_loop(
        [](Tensors c) { return c[0] > 1; },
        [](Tensors c) {
          sn::Tensor next = sn::cond(
              sn::remainder(c[0], 2) < 1,
              [](Tensors a) { return List{sn::floor_divide(a[0], 2)}; },
              [](Tensors a) { return List{a[0] * 3 + 1}; }, {c[0]})[0];
          return List{next, c[1] + 1};
        },
        {n, sn::zeros({}, {sn::DType::i64})})[1];
  };
  sn::Tensor numbers = sn::arange(1, 10);
  auto found = sn::scan(
      [&](Tensors, Tensors x) {
        sn::Tensor taken = sn::cond(
            x[0] < 8, [&](Tensors a) { return List{steps(a[0])}; },
            [](Tensors) { return List{sn::full({}, -1, {sn::DType::i64})}; },
            {x[0]})[0];
        return sn::ScanStep{{}, {taken}};
      },
      {}, {numbers});
  EXPECT_EQ(found.ys[0].to_vector<int64_t>(),
            (std::vector<int64_t>{0, 1, 7, 2, 5, 8, 16, -1, -1}));
}

TEST(WhileLoop, HasNoGradient) {
  sn::Tensor x = scalar(2);
  x.require_grad();
  sn::Tensor root = rootOf(x)[0];
  expectError(sn::ErrorKind::unsupported, "while_loop: it has no gradient",
              [&] { root.backward(); });
}

/// Of a branch, in two ways.
static sn::Tensor branched(const sn::Tensor &flag, const sn::Tensor &x,
                           const sn::Tensor &w) {
  return sn::cond(
      flag, [&](Tensors a) { return List{sn::tanh(sn::matmul(a[0], w))}; },
      [](Tensors a) { return List{sn::exp(a[0]) * 0.5}; }, {x})[0];
}

static sn::Tensor flagOf(bool value) { return scalar(value ? 1.f : 0.f) > 0.5; }

TEST(Cond, GivesWhatTheBranchGives) {
  sn::Tensor x = sn::tensor(Values{0.5f, -1.f, 2.f, 0.25f}, {2, 2}),
             w = sn::tensor(Values{1.f, 2.f, 3.f, -4.f}, {2, 2});
  EXPECT_EQ(branched(flagOf(true), x, w).to_vector<float>(),
            sn::tanh(sn::matmul(x, w)).to_vector<float>());
  EXPECT_EQ(branched(flagOf(false), x, w).to_vector<float>(),
            (sn::exp(x) * 0.5).to_vector<float>());
}

TEST(Cond, TakesCapturesAndGivesWhatItDoesNotCompute) {
  sn::Tensor x = sn::tensor({1.f, 2.f, 3.f}), y = sn::tensor({4.f, 5.f, 6.f});
  for (bool flag : {true, false}) {
    List found = sn::cond(
        flagOf(flag), [&](Tensors) { return List{x, sn::zeros({2})}; },
        [&](Tensors a) { return List{a[0], sn::ones({2})}; }, {y});
    EXPECT_EQ(found[0].to_vector<float>(),
              flag ? (Values{1, 2, 3}) : (Values{4, 5, 6}));
    EXPECT_EQ(found[1].to_vector<float>(), Values(2, flag ? 0.f : 1.f));
  }
}

/// An index out of range is an error only where it is used.
TEST(Cond, RunsOnlyTheBranchThatIsTaken) {
  sn::Tensor table = sn::tensor({1.f, 2.f, 3.f}),
             index = sn::tensor({0.f, 7.f}).to(sn::DType::i64).eval();
  auto pick = [&](bool flag) {
    return sn::cond(
        flagOf(flag), [&](Tensors) { return List{sn::take(table, index)}; },
        [&](Tensors) { return List{sn::zeros({2})}; })[0];
  };
  EXPECT_EQ(pick(false).to_vector<float>(), (Values{0, 0}));
  EXPECT_THROW(pick(true).to_vector<float>(), sn::Error);
}

TEST(Cond, HasGradientsOfTheBranch) {
  for (bool flag : {true, false}) {
    List got, expected;
    for (bool isPlain : {false, true}) {
      sn::Tensor x = sn::tensor(Values{0.5f, -1.f, 2.f, 0.25f}, {2, 2}),
                 w = sn::tensor(Values{1.f, 2.f, 3.f, -4.f}, {2, 2});
      x.require_grad();
      w.require_grad();
      sn::Tensor scaled = x * 1.5;
      sn::Tensor y = !isPlain ? branched(flagOf(flag), scaled, w)
                     : flag   ? sn::tanh(sn::matmul(scaled, w))
                              : sn::exp(scaled) * 0.5 + sn::sum(w) * 0.0;
      sn::Gradients found = sn::sum(y * y).backward();
      (isPlain ? expected : got) = {found[x], found[w]};
    }
    for (size_t i = 0; i < 2; ++i) {
      Values a = got[i].to_vector<float>(), b = expected[i].to_vector<float>();
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k)
        EXPECT_NEAR(a[k], b[k], 1e-5) << flag << " " << i << " " << k;
    }
  }
}

TEST(Cond, HasSecondDerivatives) {
  for (bool flag : {true, false}) {
    sn::Tensor x = scalar(0.75f);
    x.require_grad();
    sn::Tensor y = sn::cond(
        flagOf(flag), [](Tensors a) { return List{a[0] * a[0] * a[0]}; },
        [](Tensors a) { return List{sn::sin(a[0])}; }, {x})[0];
    sn::Tensor slope = sn::grad(y, {x})[0];
    double second = double(sn::grad(slope, {x})[0].item<float>());
    EXPECT_NEAR(second, flag ? 6 * 0.75 : -std::sin(0.75), 1e-5);
  }
}

TEST(Cond, InALoopChoosesAValue) {
  sn::Tensor xs = sn::tensor({1.f, -2.f, 3.f});
  auto found = sn::scan(
      [](Tensors c, Tensors x) {
        List next = sn::cond(
            x[0] > 0.0, [&](Tensors) { return List{c[0] + x[0]}; },
            [&](Tensors) { return List{c[0] * 10.0}; });
        return sn::ScanStep{next, {}};
      },
      {scalar(0)}, {xs});
  EXPECT_EQ(found.carries[0].item<float>(), 13.f);
}

TEST(Cond, RefusesWhatDoesNotFit) {
  sn::Tensor x = sn::tensor({1.f, 2.f});
  auto same = [](Tensors a) { return List{a[0]}; };
  refuses([&] { sn::cond(x, same, same, {x}); },
          "cond: the predicate is f32[2], not a boolean scalar");
  refuses(
      [&] {
        sn::cond(flagOf(true), same, [](Tensors) { return List{}; }, {x});
      },
      "cond: one branch gives 1 values, the other 0");
  refuses(
      [&] {
        sn::cond(flagOf(true), same,
                 [](Tensors a) { return List{sn::sum(a[0])}; }, {x});
      },
      "cond: value 0 is f32[2] in one branch and f32[] in the other");
  refuses(
      [&] {
        sn::cond(flagOf(true), same,
                 [](Tensors) { return List{sn::uniform({2})}; }, {x});
      },
      "cond: the body draws random numbers");
}
