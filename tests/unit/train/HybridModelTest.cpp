/// A module as the model of a trainer that knows no tensors.
#include "tests/unit/train/Models.h"

#include <sinter/train/Hybrid.h>

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace train_test;
namespace sn = sinter;
using sn::train::HybridModel;
using sn::train::HybridOptimizer;
using sn::train::KeyedGradients;

namespace {

/// The message of the Error that a call throws; empty if it throws none.
template <typename F> std::string messageOf(F &&call) {
  try {
    call();
  } catch (const sn::Error &error) {
    return error.message();
  }
  return {};
}

auto wrapped() {
  sn::manual_seed(7);
  return HybridModel(Mlp(), lossOf);
}

std::vector<float> weightsOf(const Mlp &mlp) {
  std::vector<float> all;
  mlp.visit([&](const std::string &, const sn::Param &param) {
    auto values = param.tensor().to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

HybridOptimizer sgd(double lr = 0.1) {
  return HybridOptimizer::of<sn::optim::Sgd>(
      sn::optim::SgdOptions{.lr = lr, .momentum = 0.9});
}

//===- Vectors and tensors ------------------------------------------------===//

TEST(TensorVectorTest, tensorsOfAnyRankBecomeVectors) {
  EXPECT_EQ(sn::train::tensor_to_vec(sn::tensor({1.f, 2.f, 3.f})),
            (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(sn::train::tensor_to_vec(sn::tensor({{1.f, 2.f}, {3.f, 4.f}})),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(sn::train::tensor_to_vec(sn::tensor({{{1.f, 2.f}}, {{3.f, 4.f}}})),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(sn::train::tensor_to_vec(sn::zeros({0})).empty());
  EXPECT_EQ(sn::train::tensor_to_vec(sn::sum(sn::ones({4}))),
            std::vector<float>{4});
  EXPECT_NE(messageOf([] { sn::train::tensor_to_vec(sn::Tensor()); }), "");
}

TEST(TensorVectorTest, vectorsBecomeTensorsOfAShape) {
  sn::Tensor made = sn::train::vec_to_tensor({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(sn::train::tensor_shape(made), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(made.dtype(), sn::DType::f32);
  EXPECT_NE(messageOf([] { sn::train::vec_to_tensor({1, 2, 3}, {2, 2}); }), "");
  EXPECT_NE(messageOf([] { sn::train::vec_to_tensor({1}, {-1}); }), "");
}

TEST(TensorVectorTest, shapesSurviveTheWayThere) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{},
                                            {1},
                                            {6},
                                            {2, 3},
                                            {3, 1, 2},
                                            {1, 2, 1, 3},
                                            {0},
                                            {2, 0, 3}}) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<float>(i) * 0.5f);
    sn::Tensor made = sn::train::vec_to_tensor(values, shape);
    EXPECT_EQ(sn::train::tensor_shape(made), shape);
    EXPECT_EQ(sn::train::tensor_to_vec(made), values);
  }
}

//===- The model ----------------------------------------------------------===//

TEST(HybridModelTest, countsTheParametersOfTheModule) {
  auto model = wrapped();
  EXPECT_EQ(model.parameter_count(), 67); // 10 * 5 + 5 + 5 * 2 + 2
  ASSERT_EQ(model.parameters().size(), 4u);
  EXPECT_EQ(model.parameters()[0].path, "fc1.weight");
}

TEST(HybridModelTest, forwardGivesTheLossAndBackwardItsGradients) {
  auto model = wrapped();
  Batch batch = batchOf(8, 1);
  sn::Tensor loss = model.forward(batch);
  KeyedGradients gradients = model.backward();
  EXPECT_EQ(loss.rank(), 0);
  EXPECT_EQ(gradients.paths(),
            (std::vector<std::string>{"fc1.weight", "fc1.bias", "fc2.weight",
                                      "fc2.bias"}));
  sn::Gradients plain = lossOf(model.module(), batch).backward();
  auto vectors = gradients.to_vectors();
  model.module().visit([&](const std::string &path, const sn::Param &param) {
    EXPECT_EQ(vectors.at(path), plain(param).to_vector<float>()) << path;
    EXPECT_EQ(gradients.flat(path).rank(), 1);
    EXPECT_EQ(sn::train::tensor_shape(gradients.shaped(path)),
              sn::train::tensor_shape(param.tensor()));
  });
  EXPECT_NE(messageOf([&] { gradients.flat("fc3.bias"); }), "");
}

TEST(HybridModelTest, backwardWithoutForwardIsAnError) {
  auto model = wrapped();
  EXPECT_EQ(messageOf([&] { model.backward(); }),
            "backward: this thread has called no forward before it");
  model.forward(batchOf(2, 1));
  model.backward();
  EXPECT_NE(messageOf([&] { model.backward(); }), "");
}

TEST(HybridModelTest, weightDeltasAreAddedAndKeepWhatParametersAre) {
  auto model = wrapped();
  std::vector<std::pair<uint64_t, bool>> before, after;
  auto note = [&](auto &into) {
    model.module().visit([&](const std::string &, const sn::Param &param) {
      into.emplace_back(param.record_id(), param.requires_grad());
    });
  };
  note(before);
  std::vector<float> old = weightsOf(model.module());
  model.apply_weight_delta({{"fc1.bias", {1, 2, 3, 4, 5}},
                            {"fc2.weight", std::vector<float>(10, -1)}},
                           0.5);
  note(after);
  EXPECT_EQ(before, after);
  std::vector<float> now = weightsOf(model.module());
  for (size_t i = 0; i < now.size(); ++i) {
    float delta = i < 50   ? 0.f
                  : i < 55 ? 0.5f * static_cast<float>(i - 49)
                  : i < 65 ? -0.5f
                           : 0.f;
    EXPECT_EQ(now[i], old[i] + delta) << i;
  }
}

TEST(HybridModelTest, aDeltaThatDoesNotFitChangesNothing) {
  auto model = wrapped();
  std::vector<float> old = weightsOf(model.module());
  EXPECT_EQ(messageOf([&] {
              model.apply_weight_delta(
                  {{"fc1.bias", {1, 1, 1, 1, 1}}, {"fc2.bias", {1}}});
            }),
            "apply_weight_delta: 'fc2.bias' has 2 elements, its delta 1");
  EXPECT_EQ(messageOf([&] {
              model.apply_weight_delta(
                  {{"fc1.bias", {1, 1, 1, 1, 1}}, {"fc9.bias", {1}}});
            }),
            "apply_weight_delta: the module has no parameter 'fc9.bias'");
  EXPECT_EQ(weightsOf(model.module()), old);
}

TEST(HybridModelTest, theModuleIsTakenAndGivenBack) {
  sn::manual_seed(7);
  Mlp mlp;
  std::vector<float> first = weightsOf(mlp);
  HybridModel model(mlp, lossOf); // a copy: the original stays as it is
  auto optimizer = sgd();
  model.forward(batchOf(8, 1));
  optimizer.step(model, model.backward());
  EXPECT_EQ(weightsOf(mlp), first);
  std::vector<float> trained = weightsOf(model.module());
  EXPECT_NE(trained, first);
  Mlp back = std::move(model).into_module();
  EXPECT_EQ(weightsOf(back), trained);
}

TEST(HybridModelTest, theOptimizerIsWrapped) {
  HybridOptimizer optimizer = sgd(0.25);
  EXPECT_EQ(optimizer.learning_rate(), 0.25f);
  optimizer.set_learning_rate(0.125f);
  EXPECT_EQ(optimizer.learning_rate(), 0.125f);
  EXPECT_EQ(optimizer.optimizer().lr(), 0.125);
  optimizer.zero_grad();
  EXPECT_NE(messageOf([&] { optimizer.set_learning_rate(-1); }), "");
  EXPECT_NE(messageOf([] { HybridOptimizer(nullptr); }), "");
}

//===- Threads ------------------------------------------------------------===//

TEST(HybridModelTest, gradientsOfManyThreadsAtOnceGoToOne) {
  auto model = wrapped();
  constexpr int threads = 8;
  std::vector<KeyedGradients> found(threads);
  std::vector<float> losses(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      // Half by the pair of calls with a state between, half without.
      Batch batch = batchOf(4, static_cast<uint64_t>(i));
      if (i % 2) {
        losses[i] = model.forward(batch).item<float>();
        found[i] = model.backward();
      } else {
        auto step = std::as_const(model).gradients(batch);
        losses[i] = step.loss.item<float>();
        found[i] = std::move(step.gradients);
      }
    });
  for (std::thread &worker : workers)
    worker.join();
  KeyedGradients sum;
  for (int i = 0; i < threads; ++i) {
    Batch batch = batchOf(4, static_cast<uint64_t>(i));
    auto alone = model.gradients(batch);
    EXPECT_EQ(losses[i], alone.loss.item<float>()) << i;
    EXPECT_EQ(found[i].to_vectors(), alone.gradients.to_vectors()) << i;
    sum.accumulate(found[i]);
  }
  // One value is read by many.
  std::vector<sn::train::VectorDelta> read(4);
  workers.clear();
  for (auto &into : read)
    workers.emplace_back([&] { into = sum.to_vectors(); });
  for (std::thread &worker : workers)
    worker.join();
  for (auto &each : read)
    EXPECT_EQ(each, read[0]);
  auto optimizer = sgd();
  std::vector<float> before = weightsOf(model.module());
  optimizer.step(model, std::move(sum));
  EXPECT_NE(weightsOf(model.module()), before);
}

//===- Overhead -----------------------------------------------------------===//

struct Counts {
  uint64_t programs, launches, compiles, read, written;
  bool operator==(const Counts &) const = default;
};

template <typename F> Counts countsOf(F &&steps) {
  sn::reset_stats();
  steps();
  sn::Stats stats = sn::stats();
  return {stats.programs_run, stats.launches, stats.compiles + stats.disk_hits,
          stats.bytes_read, stats.bytes_written};
}

TEST(HybridModelTest, theWrapperRunsTheProgramsOfTheBareLoop) {
  constexpr int steps = 12;
  sn::manual_seed(7);
  Mlp bare;
  sn::optim::Sgd plain({.lr = 0.1, .momentum = 0.9});
  auto model = wrapped();
  auto optimizer = sgd();
  std::vector<float> bareLosses, losses;
  auto bareLoop = [&] {
    for (int i = 0; i < steps; ++i) {
      sn::Tensor loss = lossOf(bare, batchOf(8, static_cast<uint64_t>(i)));
      plain.step(bare, loss.backward());
      bareLosses.push_back(loss.item<float>());
    }
  };
  auto wrappedLoop = [&] {
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      sn::Tensor loss = model.forward(batchOf(8, static_cast<uint64_t>(i)));
      optimizer.step(model, model.backward());
      losses.push_back(loss.item<float>());
    }
  };
  bareLoop();
  wrappedLoop();
  EXPECT_EQ(losses, bareLosses);
  EXPECT_EQ(weightsOf(model.module()), weightsOf(bare));
  Counts wanted = countsOf(bareLoop);
  EXPECT_EQ(countsOf(wrappedLoop), wanted);
  EXPECT_EQ(wanted.programs, uint64_t(steps));
  EXPECT_EQ(wanted.compiles, 0u);
}

} // namespace
