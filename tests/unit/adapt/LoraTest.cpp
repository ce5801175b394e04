/// Adapters of low rank, against PyTorch's values and against the sum itself.
#include "tests/unit/adapt/AdaptCase.h"

#include <sinter/StateDict.h>
#include <sinter/nn/Attention.h>
#include <sinter/optim/Adam.h>
#include <sinter/optim/Sgd.h>
#include <sinter/train/Freeze.h>
#include <sinter/train/Lora.h>

#include <sstream>

namespace sn = sinter;
using sn::train::add_lora;

namespace {

sn::Param &partOf(sn::Param &weight, size_t index) {
  return weight.parametrization()->parts[index].second;
}

/// An adapter with numbers in both of its parts.
void fill(sn::Param &weight, double step = 0.5) {
  for (size_t i = 0; i < 2; ++i) {
    sn::Param &part = partOf(weight, i);
    part.set(waves(part.shape(), i == 0 ? step : 1.1));
  }
}

/// A weight that is used as it is: [in, out].
struct Plain {
  sn::Param weight{"weight", {4, 3}, sn::init::ones()};
  sn::Tensor forward(const sn::Tensor &x) const {
    return sn::matmul(x, weight);
  }
  SINTER_MODULE(Plain, weight)
};

} // namespace

TEST(Lora, IsPefts) {
  sn::nn::Linear model(4, 3, {.bias = false});
  model.weight.set(waves({3, 4}, 0.7));
  add_lora(model, "weight", {.rank = 2, .alpha = 3});
  fill(model.weight);
  sn::Tensor y = model(waves({5, 4}, 0.3));
  sn::Gradients gradients = sn::mean(y * y).backward();
  std::vector<double> all = y.to_vector<double>();
  for (size_t i = 0; i < 2; ++i)
    for (double each : gradients(partOf(model.weight, i)).to_vector<double>())
      all.push_back(each);
  expectValues(all, golden::lora, 1e-5);
  EXPECT_EQ(gradients.size(), 2u); // none of the weight
}

TEST(Lora, ChangesNothingAtFirstAndSelectsByPattern) {
  Mlp model;
  sn::Tensor x = waves({5, 4}, 0.3), before = model(x);
  sn::train::LoraReport report =
      add_lora(model, "fc{1,2}", {.rank = 2, .alpha = 4});
  EXPECT_EQ(report.adapted.paths,
            (std::vector<std::string>{"fc1.weight", "fc2.weight"}));
  EXPECT_EQ(report.trainable, 2 * (4 + 8) + 2 * (8 + 3));
  EXPECT_EQ(report.total, 67 + report.trainable);
  EXPECT_EQ(sn::train::num_trainable(model), report.trainable);
  EXPECT_EQ(model.num_params(), report.total);
  expectNear(model(x), before, 0);
  std::ostringstream text;
  text << report;
  EXPECT_EQ(text.str(), "2 weights adapted, 46 of 113 elements are trained "
                        "(40.71 %): fc1.weight, fc2.weight");
  EXPECT_EQ(namesOf(model),
            (std::vector<std::string>{"fc1.weight", "fc1.weight.lora_A",
                                      "fc1.weight.lora_B", "fc1.bias",
                                      "fc2.weight", "fc2.weight.lora_A",
                                      "fc2.weight.lora_B", "fc2.bias"}));
}

TEST(Lora, AloneOrAsTheSumIsTheSame) {
  Plain plain;
  plain.weight.set(waves({4, 3}, 0.7));
  for (bool turned : {false, true}) {
    Plain model = plain;
    add_lora(model, "weight", {.rank = 2, .fan_in_fan_out = turned});
    EXPECT_EQ(partOf(model.weight, 0).shape()[1].value, turned ? 4 : 3);
    fill(model.weight);
    sn::Tensor x = waves({5, 4}, 0.3);
    sn::Tensor sum = model.weight.tensor() + 0.0; // not a known sum any more
    expectNear(model(x), sn::matmul(x, sum), 1e-5);
    sn::Tensor back = waves({5, 3}, 0.4);
    expectNear(sn::matmul(back, sn::transpose(model.weight, {1, 0})),
               sn::matmul(back, sn::transpose(sum, {1, 0})), 1e-5);
  }
}

TEST(Lora, TrainsAdaptersAloneInOneProgram) {
  sn::manual_seed(1); // how far it comes depends on where it begins
  Mlp model;
  add_lora(model, "fc1", {.rank = 2});
  std::vector<float> weight = model.fc1.weight.own_value().to_vector<float>();
  std::vector<float> head = model.fc2.weight.tensor().to_vector<float>();
  sn::optim::Adam adam({.lr = 0.05});
  sn::Tensor x = waves({8, 4}, 0.3), target = waves({8, 3}, 0.9);
  auto step = [&] {
    sn::Tensor difference = model(x) - target;
    sn::Tensor loss = sn::mean(difference * difference);
    adam.step(model, loss.backward());
    return loss.item<float>();
  };
  float first = step();
  step();
  Counts counts = countsOf([&] { step(); });
  EXPECT_EQ(counts.runs, 1u);
  EXPECT_EQ(counts.programs, 0u);
  EXPECT_EQ(counts.refused, 0u);
  for (int i = 0; i < 60; ++i)
    step();
  EXPECT_LT(step(), 0.7f * first);
  EXPECT_EQ(model.fc1.weight.own_value().to_vector<float>(), weight);
  EXPECT_EQ(model.fc2.weight.tensor().to_vector<float>(), head);
  EXPECT_NE(partOf(model.fc1.weight, 1).tensor().to_vector<float>(),
            std::vector<float>(16, 0.f));
}

/// The gradient of a [64, 64] weight would be a product of 64 x 64 results.
TEST(Lora, NoGradientHasTheWeightsSize) {
  sn::nn::Linear model(64, 64, {.bias = false});
  add_lora(model, "weight", {.rank = 2});
  sn::Tensor y = model(waves({8, 64}, 0.3));
  sn::Gradients gradients = sn::mean(y * y).backward();
  std::vector<sn::Tensor> both{gradients(partOf(model.weight, 0)),
                               gradients(partOf(model.weight, 1))};
  std::string graph = sn::inspect(both, "import");
  size_t products = 0;
  for (size_t at = graph.find("sinter.matmul"); at != std::string::npos;
       at = graph.find("sinter.matmul", at + 1)) {
    std::string line = graph.substr(at, graph.find('\n', at) - at);
    ++products;
    EXPECT_FALSE(line.ends_with("-> tensor<64x64xf32>")) << line;
  }
  EXPECT_GE(products, 5u) << graph;
}

TEST(Lora, DropoutWhileItTrains) {
  sn::nn::Linear model(4, 3);
  add_lora(model, "weight", {.rank = 2, .dropout = 0.9});
  fill(model.weight);
  sn::Tensor x = waves({64, 4}, 0.3);
  sn::nn::Linear valid = model.valid();
  EXPECT_EQ(valid(x).to_vector<float>(), valid(x).to_vector<float>());
  EXPECT_NE(model(x).to_vector<float>(), valid(x).to_vector<float>());
  model.eval();
  EXPECT_EQ(model(x).to_vector<float>(), valid(x).to_vector<float>());
}

TEST(Lora, MergesIntoTheWeights) {
  Mlp model;
  add_lora(model, {"fc1", "fc2"}, {.rank = 2, .alpha = 4});
  fill(model.fc1.weight);
  fill(model.fc2.weight, 0.3);
  sn::Tensor x = waves({5, 4}, 0.3), before = model(x);
  before.eval();
  sn::train::merge_lora(model);
  expectNear(model(x), before, 1e-5);
  EXPECT_EQ(model.fc1.weight.parametrization(), nullptr);
  EXPECT_EQ(model.num_params(), 67);
  EXPECT_EQ(sn::train::num_trainable(model), 0);
  add_lora(model, "fc1"); // another one
  sn::train::remove_lora(model);
  expectNear(model(x), before, 1e-5);
  expectRejected("merge_lora", "no adapter",
                 [&] { sn::train::merge_lora(model); });
}

TEST(Lora, CopiesHaveAdaptersOfTheirOwn) {
  Mlp model;
  add_lora(model, "fc1", {.rank = 2});
  Mlp copy = model;
  fill(copy.fc1.weight);
  EXPECT_EQ(partOf(model.fc1.weight, 1).tensor().to_vector<float>(),
            std::vector<float>(16, 0.f));
  sn::Tensor x = waves({5, 4}, 0.3);
  EXPECT_NE(model(x).to_vector<float>(), copy(x).to_vector<float>());
  Mlp wide = copy.cast(sn::DType::f64);
  EXPECT_EQ(partOf(wide.fc1.weight, 0).dtype(), sn::DType::f64);
  expectNear(wide(x.to(sn::DType::f64)), copy(x), 1e-5);
  Mlp mapped = copy.map([](const std::string &path, const sn::Param &param) {
    return path.ends_with("lora_B")
               ? param.map([](const sn::Tensor &t) { return t * 0; })
               : param;
  });
  expectNear(mapped(x), model(x), 1e-6);
}

TEST(Lora, FilesOfAdaptersHavePeftsNames) {
  std::string file = testing::TempDir() + "/adapter_model.safetensors";
  Mlp model;
  add_lora(model, "fc1", {.rank = 2});
  fill(model.fc1.weight);
  sn::train::save_lora(model, file);
  EXPECT_EQ(sn::read_state(file).names(),
            (std::vector<std::string>{"base_model.model.fc1.lora_A.weight",
                                      "base_model.model.fc1.lora_B.weight"}));
  Mlp other = model;
  partOf(other.fc1.weight, 1).set(sn::zeros({8, 2}));
  sn::train::load_lora(other, file);
  expectNear(other.fc1.weight.tensor(), model.fc1.weight.tensor(), 0);
  Mlp without;
  expectRejected("load_lora", "no adapter",
                 [&] { sn::train::load_lora(without, file); });
  add_lora(without, "fc1", {.rank = 3});
  expectRejected("load", "lora_A",
                 [&] { sn::train::load_lora(without, file); });
  std::remove(file.c_str());
}

TEST(Lora, FilesOfTheModelHoldAdapters) {
  std::string file = testing::TempDir() + "/adapted.safetensors";
  Mlp model;
  add_lora(model, "fc1", {.rank = 2});
  fill(model.fc1.weight);
  model.save(file);
  Mlp other;
  add_lora(other, "fc1", {.rank = 2});
  other.load(file);
  sn::Tensor x = waves({5, 4}, 0.3);
  EXPECT_EQ(other(x).to_vector<float>(), model(x).to_vector<float>());
  std::remove(file.c_str());
}

TEST(Lora, AttentionNeedNotKnow) {
  sn::nn::MultiHeadAttention model(8, 2);
  add_lora(model, {"in_proj_weight", "out_proj"}, {.rank = 2});
  fill(model.in_proj_weight);
  sn::Tensor x = waves({2, 5, 8}, 0.3);
  sn::Tensor y = model(x);
  sn::nn::MultiHeadAttention merged = model;
  sn::train::merge_lora(merged);
  expectNear(y, merged(x), 1e-5);
  // Slices of the weight are those of the sum.
  expectNear(model.attend(x, x, x), merged(x), 1e-5);
  EXPECT_EQ(sn::mean(y * y).backward().size(), 4u);
}

TEST(Lora, JittedFunctionsTellAdaptersApart) {
  sn::nn::Linear a(4, 3);
  sn::nn::Linear b = a;
  add_lora(a, "weight", {.rank = 2, .alpha = 2});
  add_lora(b, "weight", {.rank = 2, .alpha = 20});
  fill(a.weight);
  fill(b.weight);
  auto call = sn::jit([](const sn::nn::Linear &model, const sn::Tensor &x) {
    return model(x);
  });
  sn::Tensor x = waves({5, 4}, 0.3);
  expectNear(call(a, x), a(x), 1e-6);
  expectNear(call(b, x), b(x), 1e-5);
}

TEST(Lora, Rejects) {
  Mlp model;
  expectRejected("add_lora", "'fc3' selects no weight of rank 2",
                 [&] { add_lora(model, {"fc1", "fc3"}); });
  expectRejected("add_lora", "selects no weight",
                 [&] { add_lora(model, "*.bias"); });
  expectRejected("add_lora", "rank",
                 [&] { add_lora(model, "fc1", {.rank = 0}); });
  expectRejected("add_lora", "dropout",
                 [&] { add_lora(model, "fc1", {.dropout = 1}); });
  expectRejected("add_lora", "not i32",
                 [&] { add_lora(model, "fc1", {.dtype = sn::DType::i32}); });
  EXPECT_EQ(sn::train::num_trainable(model), 67); // nothing was changed
  add_lora(model, "fc1");
  expectRejected("add_lora", "'fc1.weight' has a parametrization already: lora",
                 [&] { add_lora(model, {"fc2", "fc1"}); });
  EXPECT_EQ(model.fc2.weight.parametrization(), nullptr);
  add_lora(model, "fc2"); // the first ones stay trained
  EXPECT_TRUE(partOf(model.fc1.weight, 0).requires_grad());
}
