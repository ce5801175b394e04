/// Optimizer state in files: training goes on as if it had not stopped.
#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>
#include <sinter/optim/Adam.h>
#include <sinter/optim/Sgd.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <unistd.h>

namespace sn = sinter;
using sn::nn::Linear;

namespace {

class OptimizerFile : public testing::Test {
protected:
  void TearDown() override {
    std::filesystem::remove(modelPath);
    std::filesystem::remove(statePath);
  }
  static void train(Linear &model, sn::optim::Optimizer &optimizer, int steps) {
    for (int i = 0; i < steps; ++i) {
      sn::Tensor x = sn::tensor({{1.f, 2.f}, {0.f, float(i % 3)}});
      sn::Tensor y = model(x);
      optimizer.step(model, sn::sum(y * y).backward());
    }
  }
  static std::vector<float> weightOf(const Linear &model) {
    return model.weight.tensor().to_vector<float>();
  }
  std::string base = std::filesystem::temp_directory_path() /
                     ("sinter-optimizer-" + std::to_string(::getpid()));
  std::string modelPath = base + ".model", statePath = base + ".state";
};

} // namespace

TEST_F(OptimizerFile, TrainingGoesOn) {
  Linear model(2, 3);
  sn::optim::Adam adam({.lr = 0.05});
  train(model, adam, 7);
  model.save(modelPath);
  adam.save(statePath);
  train(model, adam, 5);

  Linear again(2, 3);
  again.load(modelPath);
  sn::optim::Adam fresh({.lr = 0.05});
  fresh.load(again, statePath);
  train(again, fresh, 5);
  EXPECT_EQ(weightOf(again), weightOf(model));
}

TEST_F(OptimizerFile, SavingALoadedStateCountsOn) {
  Linear model(2, 3);
  sn::optim::Adam adam({.lr = 0.05});
  train(model, adam, 2);
  adam.save(statePath);
  sn::optim::Adam second({.lr = 0.05});
  second.load(model, statePath);
  train(model, second, 3);
  second.save(statePath);
  Linear copy = model;
  sn::optim::Adam third({.lr = 0.05});
  third.load(copy, statePath);
  train(model, second, 2);
  train(copy, third, 2);
  EXPECT_EQ(weightOf(copy), weightOf(model));
}

TEST_F(OptimizerFile, RefusesOtherOptimizersAndShapes) {
  Linear model(2, 3);
  sn::optim::Adam adam;
  train(model, adam, 1);
  adam.save(statePath);
  sn::optim::Sgd sgd({.momentum = 0.9});
  EXPECT_THROW(sgd.load(model, statePath), sn::Error);

  Linear other(3, 3);
  other.weight.set_record_id(model.weight.record_id());
  try {
    adam.load(other, statePath);
    FAIL();
  } catch (const sn::Error &error) {
    EXPECT_NE(error.message().find("'weight'"), std::string::npos)
        << error.what();
    EXPECT_NE(error.message().find(statePath), std::string::npos);
  }
}

TEST_F(OptimizerFile, RefusesTwoCopiesInOneFile) {
  Linear model(2, 3);
  Linear copy = model;
  sn::optim::Adam adam;
  train(model, adam, 1);
  train(copy, adam, 1);
  EXPECT_THROW(adam.save(statePath), sn::Error);
  EXPECT_FALSE(std::filesystem::exists(statePath));
}
