/// An exported training step goes on with a training, bit by bit.
#include "tests/e2e/export/ExportFixture.h"
#include "tests/e2e/export/FileRunner.h"
#include "tests/e2e/export/SmallNet.h"

#include <sinter/Basic.h>
#include <sinter/Export.h>

#include <array>
#include <bit>
#include <gtest/gtest.h>

namespace sn = sinter;
using sn::test::FileRunner;
using sn::test::SmallNet;
using sn::test::valueOf;

namespace {

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
  SmallNet model;
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

/// An optimizer that is gone lends its rate to no other at its address.
TEST_F(TrainingExportTest, RatesAreOfOneOptimizer) {
  SmallNet model;
  Batch example = batchOf(12);
  sn::ModelExport exported;
  exported.name(model);
  alignas(sn::optim::Sgd) std::byte memory[sizeof(sn::optim::Sgd)];
  auto *sgd = new (memory) sn::optim::Sgd({.lr = 0.5});
  exported.rate(*sgd, "lr");
  sgd->~Sgd();
  sgd = new (memory) sn::optim::Sgd({.lr = 0.25});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    sgd->step(model, loss.backward());
    return loss;
  };
  exported.add("train", step, std::tuple{example.x, example.y},
               {.inputs = {"x", "y"}, .outputs = {"loss"}});
  sgd->~Sgd();
  std::string path = folder / "train.sinter";
  exported.write(path, {.targets = {target}});
  FileRunner file(path);
  // No rate is asked for.
  file.run("train", {{"x", valueOf(example.x)}, {"y", valueOf(example.y)}});
}

/// That two inputs have one name is told when the function is added.
TEST_F(TrainingExportTest, RatesHaveNamesOfTheirOwn) {
  SmallNet model;
  sn::optim::Sgd first({.lr = 0.5}), second({.lr = 0.25});
  auto step = [&](const sn::Tensor &x, const sn::Tensor &y) {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    sn::Gradients gradients = loss.backward();
    first.step(model.fc1, gradients);
    second.step(model.fc2, gradients);
    return loss;
  };
  Batch example = batchOf(12);
  auto refusal = [&](const char *one, const char *other) -> std::string {
    sn::ModelExport exported;
    exported.name(model);
    try {
      exported.rate(first, one).rate(second, other);
      exported.add("train", step, std::tuple{example.x, example.y},
                   {.inputs = {"x", "y"}, .outputs = {"loss"}});
    } catch (const sn::Error &error) {
      std::string text = error.what();
      return text.substr(0, text.find(" ("));
    }
    return "";
  };
  EXPECT_EQ(refusal("a", "b"), "");
  EXPECT_EQ(refusal("lr", "lr"), "export: the function has another input that "
                                 "is named as the rate 'lr'");
  EXPECT_EQ(refusal("x", "lr"), "export: the function has another input that "
                                "is named as the rate 'x'");
  EXPECT_EQ(refusal("", "lr"), "export: a rate has no name");
}

TEST_F(TrainingExportTest, TheRateMayBeAnInput) {
  sn::numerics_scope exact(sn::Numerics::exact);
  SmallNet model;
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
  SmallNet model;
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
