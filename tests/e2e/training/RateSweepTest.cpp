/// Learning rates are arguments of programs: a thousand of them compile once.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

using namespace training;

namespace {

constexpr int rates = 1000;

/// 1000 different rates, 0, 0.5 and 1 among them.
double rateOf(int i) {
  const double special[] = {0.5, 0, 1, 2, -1};
  return i < 5 ? special[i] : i * 0.001;
}

} // namespace

TEST(RateSweep, Adam) {
  Mlp model(40);
  sn::optim::Adam adam;
  sn::Tensor x = images(5), y = labels(5);
  uint64_t before = 0;
  for (int i = 0; i < rates; ++i) {
    adam.set_lr(std::abs(rateOf(i)) * 1e-3);
    sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
    adam.step(model, loss.backward());
    loss.eval();
    if (i == 0)
      before = programsMade();
  }
  EXPECT_EQ(programsMade() - before, 0u) << missesText();
}

TEST(RateSweep, ScalarOperand) {
  sn::Tensor t = images(5);
  uint64_t before = programsMade();
  for (int i = 0; i < rates; ++i) {
    auto rate = static_cast<float>(rateOf(i));
    std::vector<float> result = (t * sn::scalar(rate)).to_vector<float>();
    ASSERT_FLOAT_EQ(result[1], std::sin(1.f) * rate);
  }
  EXPECT_EQ(programsMade() - before, 1u) << missesText();
}

TEST(RateSweep, PlainNumbersBecomeArguments) {
  sn::Tensor t = images(6);
  uint64_t before = programsMade();
  for (int i = 0; i < rates; ++i) {
    auto rate = static_cast<float>(rateOf(i));
    (t * rate + 41.f).eval();
  }
  EXPECT_LE(programsMade() - before, 2u) << missesText();
}
