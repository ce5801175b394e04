/// A transformer's training step: one program, attention in few kernels, no
/// scores in memory.
#include "tests/e2e/training/TestProcess.h"

#include <gtest/gtest.h>

using namespace training;
using sn::nn::TransformerEncoderLayer;

namespace {

constexpr int64_t size = 256, heads = 4, positions = 128, batch = 16,
                  classes = 50;

sn::nn::TransformerEncoderLayerOptions layerOptions() {
  return {.dim_feedforward = 4 * size,
          .activation = sn::nn::Activation::gelu,
          .norm_first = true};
}

/// Two layers, and a class for each position.
struct Model {
  TransformerEncoderLayer first{size, heads, layerOptions()},
      second{size, heads, layerOptions()};
  sn::nn::Linear out{size, classes};
  sn::Tensor forward(const sn::Tensor &x) const {
    sn::AttentionOptions causal{.causal = true};
    sn::Tensor y = out(second(first(x, causal), causal));
    return sn::reshape(y, {batch * positions, classes});
  }
  SINTER_MODULE(Model, first, second, out)
};

sn::Tensor classesOf(int64_t rows) {
  std::vector<int64_t> values(rows);
  for (int64_t i = 0; i < rows; ++i)
    values[i] = (i * i) % classes;
  return sn::tensor(values, {rows});
}

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

} // namespace

TEST(Transformer, StepIsOneProgramWithAttentionInKernels) {
  sn::manual_seed(3);
  Model model;
  sn::optim::Adam adam{{.lr = 0.0003}};
  sn::Tensor x = sn::normal({batch, positions, size});
  x.eval();
  sn::Tensor y = classesOf(batch * positions);
  auto step = [&] {
    sn::Tensor loss = sn::cross_entropy(model(x), y);
    sn::Gradients grads = loss.backward();
    adam.step(model, std::move(grads));
    return loss;
  };
  float first = step().item<float>();

  // Per layer: forward, the query's gradient, those of key and value.
  sn::Tensor loss = sn::cross_entropy(model(x), y);
  sn::Gradients grads = loss.backward();
  std::vector<sn::Tensor> results{loss};
  model.visit([&](std::string_view, const sn::Param &param) {
    results.push_back(grads(param));
  });
  std::string kernels = sn::inspect(results, "fuse");
  EXPECT_EQ(count(kernels, "program.launch @attention_"), 6u)
      << sn::explain(results);
  EXPECT_EQ(count(kernels, "128x128xf32"), 0u);
  EXPECT_LT(loss.item<float>(), first);

  step().item<float>();
  sn::Stats before = sn::stats();
  step().item<float>();
  sn::Stats after = sn::stats();
  EXPECT_EQ(after.programs_run - before.programs_run, 1u);
  EXPECT_LE(after.launches - before.launches, 120u);
  RecordProperty("launches", int(after.launches - before.launches));
}
