/// An exported training step goes on with a training, bit by bit.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>

#include <array>
#include <bit>
#include <gtest/gtest.h>

namespace sn = sinter;
using sn::test::FileRunner;
using sn::test::valueOf;

namespace {

struct Net {
  sn::nn::Linear fc1{16, 24};
  sn::nn::BatchNorm1d norm{24};
  sn::nn::Dropout dropout{0.25};
  sn::nn::Linear fc2{24, 10};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::relu(norm(fc1(x)))));
  }
  SINTER_MODULE(Net, fc1, norm, dropout, fc2)
};

class TrainingExportTest : public sn::test::ExportFixture {
protected:
  /// Trains a little, exports, and trains on in both worlds.
  template <typename Optimizer> void continues(Optimizer &&optimizer);
};

struct Batch {
  sn::Tensor x, y;
};
Batch batchOf(int64_t count) {
  return {sn::uniform({count, 16}).eval(), sn::randint(0, 10, {count}).eval()};
}

template <typename Optimizer>
void TrainingExportTest::continues(Optimizer &&optimizer) {
  Net model;
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    optimizer.step(model, loss.backward());
    return loss;
  };
  for (int i = 0; i < 3; ++i) {
    Batch batch = batchOf(12);
    step(batch.x, batch.y).eval();
  }
  Batch example = batchOf(12);
  std::string path = folder / "train.sinter";
  sn::ModelExport exported;
  exported.name(model);
  exported.add("train", step, std::tuple{example.x, example.y},
               {.inputs = {"x", "y"}, .outputs = {"loss"}});
  model.eval();
  exported.add("predict", model, example.x, {.inputs = {"x"}});
  model.train();
  exported.write(path, {.targets = {target}});

  FileRunner file(path);
  for (int i = 0; i < 4; ++i) {
    Batch batch = batchOf(12);
    file.setGenerator(sn::default_generator());
    sn::Tensor loss = step(batch.x, batch.y);
    auto outputs =
        file.run("train", {{"x", valueOf(batch.x)}, {"y", valueOf(batch.y)}});
    EXPECT_EQ(outputs.at("loss"), valueOf(loss)) << i;
    model.visit([&](const std::string &name, const sn::Param &param) {
      EXPECT_EQ(file.stored(name), valueOf(param.tensor())) << i << name;
    });
  }
  model.eval();
  sn::Tensor x = batchOf(12).x;
  EXPECT_EQ(file.run("predict", {{"x", valueOf(x)}}).at("output0"),
            valueOf(model(x)));
}

} // namespace

TEST_F(TrainingExportTest, StochasticGradientDescent) {
  continues(sn::optim::Sgd({.lr = 0.1}));
}

TEST_F(TrainingExportTest, WithMomentum) {
  continues(sn::optim::Sgd({.lr = 0.1, .momentum = 0.9}));
}

TEST_F(TrainingExportTest, WithDampening) {
  sn::numerics_scope exact(sn::Numerics::exact);
  continues(sn::optim::Sgd(
      {.lr = 0.1, .momentum = 0.9, .nesterov = true, .dampening = 0.125}));
}

// What a file computes of a count of steps are more ops in one program, so that
// products may be rounded elsewhere outside of `exact`.
TEST_F(TrainingExportTest, Adam) {
  sn::numerics_scope exact(sn::Numerics::exact);
  continues(sn::optim::Adam({.lr = 0.01, .weight_decay = 0.01}));
}

TEST_F(TrainingExportTest, AdamW) {
  sn::numerics_scope exact(sn::Numerics::exact);
  continues(sn::optim::AdamW({.lr = 0.01, .weight_decay = 0.1}));
}

TEST_F(TrainingExportTest, Adagrad) {
  sn::numerics_scope exact(sn::Numerics::exact);
  continues(sn::optim::Adagrad({.lr = 0.01, .lr_decay = 0.1}));
}

TEST_F(TrainingExportTest, TheRateMayBeAnInput) {
  sn::numerics_scope exact(sn::Numerics::exact);
  Net model;
  sn::optim::AdamW adamw({.lr = 0.01});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    adamw.step(model, loss.backward());
    return loss;
  };
  Batch example = batchOf(12);
  std::string path = folder / "train.sinter";
  sn::ModelExport exported;
  exported.name(model).rate(adamw, "lr");
  exported.add("train", step, std::tuple{example.x, example.y},
               {.inputs = {"x", "y"}, .outputs = {"loss"}});
  exported.write(path, {.targets = {target}});
  FileRunner file(path);
  for (double rate : {0.01, 0.003, 0.1}) {
    adamw.set_lr(rate);
    Batch batch = batchOf(12);
    file.setGenerator(sn::default_generator());
    sn::Tensor loss = step(batch.x, batch.y);
    sn::test::Value lr{sn::DType::f64, {}, {}};
    auto bits = std::bit_cast<std::array<std::byte, 8>>(rate);
    lr.bytes.assign(bits.begin(), bits.end());
    auto outputs = file.run(
        "train",
        {{"x", valueOf(batch.x)}, {"y", valueOf(batch.y)}, {"lr", lr}});
    EXPECT_EQ(outputs.at("loss"), valueOf(loss)) << rate;
    model.visit([&](const std::string &name, const sn::Param &param) {
      EXPECT_EQ(file.stored(name), valueOf(param.tensor())) << rate << name;
    });
  }
}

TEST_F(TrainingExportTest, SomeOptimizersAreRefused) {
  Net model;
  sn::optim::NAdam nadam;
  Batch example = batchOf(12);
  sn::ModelExport exported;
  try {
    exported.add(
        "train",
        [&](const sn::Tensor &x, const sn::Tensor &y) {
          sn::Tensor loss = sn::cross_entropy(model(x), y);
          nadam.step(model, loss.backward());
          return loss;
        },
        std::tuple{example.x, example.y});
    FAIL() << "nothing is thrown";
  } catch (const sn::Error &error) {
    EXPECT_NE(std::string(error.what())
                  .find("a step of nadam cannot be in a "
                        "file"),
              std::string::npos)
        << error.what();
  }
}

namespace {
struct Two {
  sn::Param p{sn::ones({3}), "p"}, q{sn::ones({3}), "q"};
  SINTER_MODULE(Two, p, q)
};
} // namespace

// A count would be that of both, or of one, depending on who runs what.
TEST_F(TrainingExportTest, CountedStepsAreOfTheSameParameters) {
  Two model;
  auto step = [&](auto &optimizer, bool both) {
    return [&, both](const sn::Tensor &x) {
      sn::Tensor y = model.p * x;
      sn::Tensor loss = sn::sum(sn::square(both ? y + model.q : y));
      optimizer.step(model, loss.backward());
      return loss;
    };
  };
  sn::Tensor x = sn::ones({3});
  sn::optim::Adam adam;
  sn::ModelExport counted;
  counted.add("both", step(adam, true), x).add("again", step(adam, true), x);
  EXPECT_THROW(counted.add("one", step(adam, false), x), sn::Error);
  sn::optim::Sgd sgd;
  sn::ModelExport uncounted;
  uncounted.add("both", step(sgd, true), x).add("one", step(sgd, false), x);
}
