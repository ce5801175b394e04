/// What a module does with its parameters as a whole: devices, dtypes, phases
/// of training, files, flat vectors.
#include "tests/unit/nn/Modules.h"

#include <filesystem>
#include <map>
#include <thread>
#include <unistd.h>

namespace sn = sinter;
using sn::nn::Linear;

namespace {

using Values = std::vector<float>;

struct Mlp {
  Linear fc1{10, 5}, fc2{5, 2};
  sn::nn::Dropout dropout{0.5};
  int64_t heads = 4;
  double rate = 0.25;
  std::string label = "mlp";
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::relu(fc1(x))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, dropout, heads, rate, label)
};

struct Small {
  sn::Param a{sn::tensor({1.f, 2.f}), "a"};
  sn::Param b{sn::tensor({3.f}), "b"};
  SINTER_MODULE(Small, a, b)
};

Values valuesOf(const sn::Param &param) {
  return param.tensor().to_vector<float>();
}

class ModuleLife : public testing::Test {
protected:
  void TearDown() override { std::filesystem::remove(path); }
  std::string path = std::filesystem::temp_directory_path() /
                     ("sinter-module-life-" + std::to_string(::getpid()));
};

} // namespace

TEST_F(ModuleLife, FrozenParamsAreSavedAndNotUpdated) {
  Mlp model;
  model.fc1.require_grad(false);
  Values frozen = valuesOf(model.fc1.weight), free = valuesOf(model.fc2.weight);
  sn::optim::Sgd sgd({.lr = 0.1});
  for (int step = 0; step < 2; ++step)
    sgd.step(model, sn::sum(model(sn::ones({3, 10}))).backward());
  EXPECT_EQ(valuesOf(model.fc1.weight), frozen);
  EXPECT_NE(valuesOf(model.fc2.weight), free);
  model.save(path);
  Mlp loaded;
  loaded.load(path);
  EXPECT_EQ(valuesOf(loaded.fc1.weight), frozen);
}

TEST_F(ModuleLife, ConstantsAreNotSaved) {
  Mlp model;
  model.save(path);
  Mlp other;
  other.heads = 7;
  other.rate = 0.75;
  other.label = "other";
  other.load(path); // and no name is missing or unexpected
  EXPECT_EQ(other.heads, 7);
  EXPECT_EQ(other.rate, 0.75);
  EXPECT_EQ(other.label, "other");
  EXPECT_EQ(valuesOf(other.fc2.bias), valuesOf(model.fc2.bias));
}

TEST_F(ModuleLife, CountsSixtySevenParams) {
  EXPECT_EQ(Mlp().num_params(), 67);
}

TEST_F(ModuleLife, VisitAndMapGivePathAndId) {
  Mlp model;
  std::map<std::string, uint64_t> ids;
  model.visit([&](const std::string &path, const sn::Param &param) {
    ids[path] = param.record_id();
  });
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(ids["fc2.bias"], model.fc2.bias.record_id());
  Mlp doubled = model.map([&](const std::string &path, const sn::Param &param) {
    EXPECT_EQ(ids[path], param.record_id());
    return param.map([](const sn::Tensor &x) { return x * 2; });
  });
  doubled.visit([&](const std::string &path, const sn::Param &param) {
    EXPECT_EQ(ids[path], param.record_id());
  });
  EXPECT_EQ(valuesOf(doubled.fc1.bias)[0], valuesOf(model.fc1.bias)[0] * 2);
}

TEST_F(ModuleLife, ToRemembersRequireGrad) {
  Mlp model;
  model.fc1.require_grad(false);
  Mlp moved = model.to("null");
  EXPECT_EQ(moved.fc1.weight.device(), sn::device("null"));
  EXPECT_FALSE(moved.fc1.weight.requires_grad());
  EXPECT_TRUE(moved.fc2.weight.requires_grad());
}

TEST_F(ModuleLife, AForkIsSeparateAndNeedsNothingRecordedHere) {
  Mlp model;
  model.fc1.require_grad(false);
  model.fc2.bias.set(model.fc2.bias.tensor() * 0 + 7);
  Mlp fork = model.fork("null");
  EXPECT_TRUE(fork.fc1.weight.is_initialized());
  EXPECT_EQ(fork.fc1.weight.device(), sn::device("null"));
  EXPECT_EQ(fork.fc1.weight.record_id(), model.fc1.weight.record_id());
  EXPECT_FALSE(fork.fc1.weight.requires_grad());
  EXPECT_TRUE(fork.fc2.weight.requires_grad());
  EXPECT_FALSE(fork.fc2.bias.cell()->pending());
  EXPECT_EQ(valuesOf(fork.fc2.bias), (Values{7, 7}));
  fork.fc2.bias.set(fork.fc2.bias.tensor() + 1);
  EXPECT_EQ(valuesOf(model.fc2.bias), (Values{7, 7}));
  Mlp here = model.fork(toString(sn::default_device()));
  EXPECT_NE(here.fc1.weight.cell(), model.fc1.weight.cell());
}

TEST_F(ModuleLife, CastChangesFloatsAndRemembersTheRest) {
  sn::nn::BatchNorm1d model(3);
  model.weight.require_grad(false);
  sn::nn::BatchNorm1d wide = model.cast(sn::DType::f64);
  EXPECT_EQ(wide.weight.dtype(), sn::DType::f64);
  EXPECT_EQ(wide.running_mean.dtype(), sn::DType::f64);
  EXPECT_EQ(wide.num_batches_tracked.dtype(), sn::DType::i64);
  EXPECT_FALSE(wide.weight.requires_grad());
  EXPECT_TRUE(wide.bias.requires_grad());
  EXPECT_EQ(wide.num_params(), model.num_params());
  EXPECT_EQ(wide.bias.record_id(), model.bias.record_id());
  EXPECT_EQ(model.weight.dtype(), sn::DType::f32);
  expectRejected("cast", "i32", [&] { model.cast(sn::DType::i32); });
}

TEST_F(ModuleLife, ValidAndTrainRememberRequireGrad) {
  Mlp model;
  model.fc1.weight.require_grad(false);
  Mlp valid = model.valid();
  EXPECT_FALSE(valid.dropout.mode.training);
  EXPECT_TRUE(model.dropout.mode.training);
  for (const sn::Param *param : {&valid.fc1.weight, &valid.fc2.weight})
    EXPECT_FALSE(param->requires_grad());
  EXPECT_FALSE(valid(sn::ones({1, 10})).requires_grad());
  EXPECT_EQ(valuesOf(valid.fc2.weight), valuesOf(model.fc2.weight));
  Mlp copy = valid;
  copy.train();
  EXPECT_TRUE(copy.dropout.mode.training);
  EXPECT_FALSE(copy.fc1.weight.requires_grad()) << "was frozen before";
  EXPECT_TRUE(copy.fc2.weight.requires_grad());
  model.eval();
  EXPECT_TRUE(model.fc2.weight.requires_grad()) << "eval() is about modes";
}

TEST_F(ModuleLife, ValidKeepsTiesAndTheirFlags) {
  Small model;
  model.b = sn::Param();
  model.b.tie(model.a);
  model.b.require_grad(false);
  Small valid = model.valid();
  EXPECT_EQ(valid.a.cell(), valid.b.cell());
  valid.train();
  EXPECT_TRUE(valid.a.requires_grad());
  EXPECT_FALSE(valid.b.requires_grad());
}

TEST_F(ModuleLife, WeightDeltasByPath) {
  Small model;
  model.b.require_grad(false);
  std::map<std::string, sn::Tensor> delta{{"a", sn::tensor({10.f, 20.f})},
                                          {"b", sn::tensor({100.f})}};
  model.apply_weight_delta(delta, 0.5);
  EXPECT_EQ(valuesOf(model.a), (Values{6, 12}));
  EXPECT_EQ(valuesOf(model.b), (Values{53}));
  delta["c"] = sn::tensor({1.f});
  expectRejected("apply_weight_delta", "no parameter 'c'",
                 [&] { model.apply_weight_delta(delta); });
  delta.erase("c");
  delta["b"] = sn::tensor({1.f, 2.f});
  expectRejected("apply_weight_delta", "'b' is f32[1], its delta f32[2]",
                 [&] { model.apply_weight_delta(delta); });
  EXPECT_EQ(valuesOf(model.a), (Values{6, 12})) << "nothing was changed";
}

TEST_F(ModuleLife, AWeightDeltaOfTiedParamsIsTheirSum) {
  Small model;
  model.b = sn::Param();
  model.b.tie(model.a);
  model.apply_weight_delta(std::map<std::string, sn::Tensor>{
      {"a", sn::tensor({1.f, 0.f})}, {"b", sn::tensor({10.f, 20.f})}});
  EXPECT_EQ(valuesOf(model.a), (Values{12, 22}));
}

TEST_F(ModuleLife, FlatGradientsAndBack) {
  Small model;
  sn::Gradients grads = sn::sum(model.a * model.a).backward();
  sn::Tensor flat = model.flat_gradients(grads);
  EXPECT_EQ(flat.to_vector<float>(), (Values{2, 4, 0})) << "b was not used";
  sn::Gradients back = model.gradients_of(flat * 10);
  EXPECT_EQ(back(model.a).to_vector<float>(), (Values{20, 40}));
  EXPECT_EQ(back(model.b).to_vector<float>(), (Values{0}));
  model.apply_weight_delta(flat, -0.5);
  EXPECT_EQ(valuesOf(model.a), (Values{0, 0}));
  EXPECT_EQ(valuesOf(model.b), (Values{3}));
  expectRejected("gradients_of", "have 3 elements, the vector is f32[2]",
                 [&] { model.gradients_of(sn::ones({2})); });
  model.require_grad(false);
  expectRejected("flat_gradients", "no parameter",
                 [&] { model.flat_gradients(grads); });
}

TEST_F(ModuleLife, FlatGradientsSkipFrozenAndTiedOnes) {
  Mlp model;
  model.fc1.require_grad(false);
  sn::Gradients grads = sn::sum(model(sn::ones({1, 10}))).backward();
  EXPECT_EQ(model.flat_gradients(grads).numel(), 12);
}

TEST_F(ModuleLife, GradientsAreReadFromOtherThreads) {
  Small model;
  sn::Gradients grads = sn::sum(model.a * model.a).backward();
  const sn::Gradients &shared = grads;
  std::vector<Values> read(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      read[i] = shared(model.a).to_vector<float>();
      EXPECT_FALSE(shared.contains(model.b));
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const Values &values : read)
    EXPECT_EQ(values, (Values{2, 4}));
}

TEST_F(ModuleLife, GradientsMoveToAThreadThatSteps) {
  Small model;
  sn::Gradients grads = sn::sum(model.a * model.a).backward();
  std::thread([&model, moved = std::move(grads)]() mutable {
    sn::optim::Sgd sgd({.lr = 0.5});
    sgd.step(model, std::move(moved));
    valuesOf(model.a);
  }).join();
  EXPECT_EQ(valuesOf(model.a), (Values{0, 0}));
}
