/// Batches of many sizes run one program; what forces another is named.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace training;

namespace {

float trainStep(Mlp &model, sn::optim::Adam &adam, int64_t rows) {
  sn::Tensor x = images(rows), y = labels(rows);
  sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
  adam.step(model, loss.backward());
  return loss.item<float>();
}

} // namespace

TEST(BatchSweep, TwoProgramsForEverySize) {
  Mlp model(32);
  sn::optim::Adam adam;
  trainStep(model, adam, 64);
  uint64_t before = programsMade(); // init and the first step
  for (int64_t rows : {64, 64, 64, 29})
    trainStep(model, adam, rows);
  for (int64_t rows = 1; rows <= 64; ++rows)
    EXPECT_TRUE(std::isfinite(trainStep(model, adam, rows))) << rows;
  EXPECT_LE(programsMade() - before, 1u) << missesText();
}

TEST(BatchSweep, StaticAndSymbolicGiveEqualBits) {
  std::vector<float> weights[2];
  for (bool symbolic : {false, true}) {
    sn::manual_seed(1);
    Mlp model(33);
    sn::optim::Adam adam;
    for (int step = 0; step < 3; ++step) {
      sn::Tensor x = images(64), y = labels(64);
      if (symbolic) {
        x.dynamic(0);
        y.dynamic(0);
      }
      sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
      adam.step(model, loss.backward());
      loss.eval();
    }
    weights[symbolic] = model.fc1.weight.tensor().to_vector<float>();
  }
  ASSERT_EQ(weights[0].size(), weights[1].size());
  EXPECT_EQ(std::memcmp(weights[0].data(), weights[1].data(),
                        weights[0].size() * sizeof(float)),
            0);
}

TEST(BatchSweep, MarkedAxesNeedOneProgram) {
  uint64_t before = programsMade();
  for (int64_t rows : {64, 29, 64, 1, 7}) {
    sn::Tensor x = images(rows);
    x.dynamic(0);
    sn::sum(x * 34.f, {0}).eval();
  }
  EXPECT_EQ(programsMade() - before, 1u) << missesText();
}

TEST(BatchSweep, ALiteralNumberIsNamed) {
  unsigned line = 0;
  sn::reset_stats();
  for (int64_t rows : {64, 48, 32, 16}) {
    sn::Tensor x = images(rows);
    line = __LINE__ + 1;
    sn::Tensor y = sn::reshape(x, {rows / 16, 16, 4});
    sn::sum(y * 35.f).eval();
  }
  std::string site = "BatchSweepTest.cpp:" + std::to_string(line);
  bool named = false;
  for (const sn::Stats::Miss &miss : sn::stats().misses)
    named |= miss.site.find(site) != std::string::npos;
  EXPECT_TRUE(named) << missesText();
}
