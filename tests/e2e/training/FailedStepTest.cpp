/// A step that fails leaves parameters and optimizer state as they were.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace training;

namespace {

/// Everything the model and the optimizer hold, as the bytes of their files.
std::string stateOf(const Mlp &model, const sn::optim::Adam &adam) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-state-" + std::to_string(::getpid()));
  std::string all;
  auto append = [&] {
    std::ifstream in(path, std::ios::binary);
    all.append(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove(path);
  };
  model.save(path);
  append();
  adam.save(path);
  append();
  return all;
}

} // namespace

TEST(FailedStep, ALabelOutOfRangeChangesNothing) {
  Mlp model(60);
  sn::optim::Adam adam;
  sn::Tensor x = images(4), good = labels(4);
  auto step = [&](const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model.forward(x), y);
    adam.step(model, loss.backward());
    return loss.item<float>();
  };
  for (int i = 0; i < 3; ++i)
    step(good);
  std::string before = stateOf(model, adam);
  for (int64_t wrong : {3, -1, 1 << 20}) {
    sn::Tensor bad = sn::tensor<int64_t>({0, 1, wrong, 2});
    try {
      step(bad);
      ADD_FAILURE() << "label " << wrong << " was accepted";
    } catch (const sn::Error &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument) << error.what();
      EXPECT_NE(error.site().find("FailedStepTest.cpp"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(stateOf(model, adam), before) << wrong;
  }
  float next = step(good);
  EXPECT_TRUE(std::isfinite(next));
  EXPECT_NE(stateOf(model, adam), before);
}

TEST(FailedStep, ALabelOutOfRangeIsSeenWhenNobodyReadsTheLoss) {
  Mlp model(62);
  sn::optim::Adam adam;
  sn::Tensor x = images(4);
  auto record = [&](const sn::Tensor &y) {
    adam.step(model, sn::cross_entropy(model.forward(x), y).backward());
  };
  record(labels(4));
  model.fc1.weight.tensor().eval();
  std::string before = stateOf(model, adam);
  for (int64_t wrong : {3, -1, 1 << 20}) {
    record(sn::tensor<int64_t>({0, 1, wrong, 2}));
    try {
      model.fc1.bias.tensor().to_vector<float>();
      ADD_FAILURE() << "label " << wrong << " was accepted";
    } catch (const sn::Error &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument) << error.what();
      EXPECT_NE(error.site().find("FailedStepTest.cpp"), std::string::npos)
          << error.what();
      std::string index =
          "index " + std::to_string(wrong) + " at position 2, not in [0,3)";
      EXPECT_NE(std::string(error.what()).find(index), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(stateOf(model, adam), before) << wrong;
  }
  record(labels(4));
  EXPECT_NE(stateOf(model, adam), before);
}

TEST(FailedStep, TrainingGoesOnAsIfNothingHadHappened) {
  std::vector<float> weights[2];
  for (bool fail : {false, true}) {
    sn::manual_seed(5);
    Mlp model(61);
    sn::optim::Adam adam;
    sn::Tensor x = images(4);
    for (int i = 0; i < 6; ++i) {
      bool bad = fail && i == 3;
      if (bad) {
        sn::Tensor wrong = sn::tensor<int64_t>({7, 0, 0, 0});
        sn::Tensor loss = sn::cross_entropy(model.forward(x), wrong);
        adam.step(model, loss.backward());
        EXPECT_THROW(loss.eval(), sn::Error);
      }
      sn::Tensor loss = sn::cross_entropy(model.forward(x), labels(4));
      adam.step(model, loss.backward());
      loss.eval();
    }
    weights[fail] = model.fc2.weight.tensor().to_vector<float>();
  }
  EXPECT_EQ(weights[0], weights[1]);
}
