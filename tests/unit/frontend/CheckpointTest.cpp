/// checkpoint: values that are computed again instead of being kept.
#include "tests/unit/frontend/Counting.h"

#include <sinter/generated/functions/Math.h>

#include <cmath>

namespace sn = sinter;
using Values = std::vector<float>;

namespace {

struct Block {
  sn::nn::Linear up, down;
  sn::nn::LayerNorm norm;
  double rate;
  Block(int64_t width, double rate)
      : up(width, 4 * width), down(4 * width, width), norm({width}),
        rate(rate) {}
  sn::Tensor operator()(const sn::Tensor &x) const {
    sn::Tensor inner = sn::gelu(up(norm(x)));
    if (rate > 0)
      inner = sn::dropout(inner, rate);
    return x + down(inner);
  }
  SINTER_MODULE(Block, up, down, norm)
};

/// Equal blocks one after the other.
struct Chain {
  std::vector<Block> blocks;
  Chain(size_t depth, int64_t width, double rate) {
    for (size_t i = 0; i < depth; ++i)
      blocks.emplace_back(width, rate);
  }
  sn::Tensor forward(sn::Tensor x, bool again) const {
    for (const Block &block : blocks)
      x = again ? sn::checkpoint(block, x) : block(x);
    return sn::mean(x * x);
  }
  SINTER_MODULE(Chain, blocks)
};

} // namespace

/// The loss, and the gradients of all parameters.
static std::vector<sn::Tensor> stepOf(const Chain &chain, const sn::Tensor &x,
                                      bool again) {
  sn::manual_seed(7);
  sn::Tensor loss = chain.forward(x, again);
  std::vector<sn::Tensor> results{loss};
  for (const sn::Gradients::Entry &each : loss.backward())
    results.push_back(each.gradient);
  return results;
}

static std::vector<Values> bitsOf(const std::vector<sn::Tensor> &tensors) {
  sn::eval(tensors);
  std::vector<Values> bits;
  for (const sn::Tensor &tensor : tensors)
    bits.push_back(tensor.to_vector<float>());
  return bits;
}

static sn::Tensor input(int64_t rows, int64_t width) {
  sn::Tensor x = sn::sin(sn::iota({rows, width}, 1, {.dtype = sn::DType::f32}) +
                         sn::iota({rows, width}, 0, {.dtype = sn::DType::f32}));
  x.to_vector<float>();
  return x;
}

TEST(Checkpoint, GradientsHaveTheSameBits) {
  sn::Tensor x = input(16, 32);
  for (double rate : {0.0, 0.25}) {
    sn::manual_seed(3);
    Chain chain(3, 32, rate);
    std::vector<Values> kept = bitsOf(stepOf(chain, x, false));
    EXPECT_EQ(kept.size(), 1 + 3 * 6u);
    EXPECT_EQ(bitsOf(stepOf(chain, x, true)), kept) << "dropout " << rate;
  }
}

TEST(Checkpoint, TakesLessMemory) {
  constexpr int64_t rows = 1024, width = 32;
  sn::Tensor x = input(rows, width);
  for (double rate : {0.0, 0.25}) {
    sn::manual_seed(3);
    Chain chain(8, width, rate);
    sn::PeakMemory kept = sn::inspect_memory(stepOf(chain, x, false));
    sn::PeakMemory again = sn::inspect_memory(stepOf(chain, x, true));
    EXPECT_LT(again.temporary_bytes, kept.temporary_bytes / 2)
        << to_string(kept) << to_string(again);
  }
}

TEST(Checkpoint, RegionsHoldRegions) {
  sn::manual_seed(3);
  Chain chain(4, 16, 0.25);
  sn::Tensor x = input(8, 16);
  std::vector<Values> kept = bitsOf(stepOf(chain, x, false));
  sn::manual_seed(7);
  // Two outer regions, each with two inner ones; one has two results.
  auto half = [&](size_t first, const sn::Tensor &at) {
    sn::Tensor middle = sn::checkpoint(chain.blocks[first], at);
    return std::pair(sn::checkpoint(chain.blocks[first + 1], middle), middle);
  };
  sn::Tensor y = sn::checkpoint(half, 0, x).first;
  y = sn::checkpoint(half, 2, y).first;
  sn::Tensor loss = sn::mean(y * y);
  std::vector<sn::Tensor> results{loss};
  for (const sn::Gradients::Entry &each : loss.backward())
    results.push_back(each.gradient);
  EXPECT_EQ(bitsOf(results), kept);
}

TEST(Checkpoint, SeveralResultsAndCapturedTensors) {
  sn::numerics_scope scope(sn::Numerics::exact);
  auto lossOf = [](bool again) {
    sn::Tensor a = sn::tensor({0.5f, -1.f}), b = sn::tensor({2.f, 3.f});
    a.require_grad();
    b.require_grad();
    auto function = [&b](const sn::Tensor &x) {
      sn::Tensor y = sn::tanh(x * b);
      return std::array{sn::exp(y), sn::sigmoid(y) * x};
    };
    auto [p, q] = again ? sn::checkpoint(function, a) : function(a);
    sn::Tensor loss = sn::sum(p * q + q);
    sn::Gradients gradients = loss.backward();
    // Second derivatives flow through what is computed again.
    sn::Gradients second = sn::sum(gradients(a) * gradients(a)).backward();
    return bitsOf({loss, gradients(a), gradients(b), second(a), second(b)});
  };
  std::vector<Values> again = lossOf(true), kept = lossOf(false);
  for (size_t i = 0; i < kept.size(); ++i)
    for (size_t j = 0; j < kept[i].size(); ++j)
      if (i < 3)
        EXPECT_EQ(again[i][j], kept[i][j]) << i;
      else // the terms are summed in another order
        EXPECT_NEAR(again[i][j], kept[i][j], 1e-5 * std::abs(kept[i][j])) << i;
}

TEST(Checkpoint, AfterTheLossWasRead) {
  sn::manual_seed(3);
  Chain chain(2, 16, 0.25);
  sn::Tensor x = input(8, 16);
  auto gradients = [&](bool again) {
    sn::manual_seed(7);
    sn::Tensor loss = chain.forward(x, again);
    loss.item<float>();
    std::vector<sn::Tensor> results;
    for (const sn::Gradients::Entry &each : loss.backward())
      results.push_back(each.gradient);
    return bitsOf(results);
  };
  EXPECT_EQ(gradients(true), gradients(false));
}

TEST(Checkpoint, InAJittedFunction) {
  sn::manual_seed(3);
  Chain chain(3, 16, 0.25);
  sn::Tensor x = input(256, 16);
  std::vector<Values> kept = bitsOf(stepOf(chain, x, false));
  auto forward = sn::jit([](const Chain &model, const sn::Tensor &at) {
    return model.forward(at, true);
  });
  for (int call = 0; call < 2; ++call) {
    sn::manual_seed(7);
    sn::Tensor loss = forward(chain, x);
    std::vector<sn::Tensor> results{loss};
    for (const sn::Gradients::Entry &each : loss.backward())
      results.push_back(each.gradient);
    EXPECT_LT(sn::inspect_memory(results).temporary_bytes,
              sn::inspect_memory(stepOf(chain, x, false)).temporary_bytes);
    EXPECT_EQ(bitsOf(results), kept);
  }
}

// Outside of `exact` a product that one sum alone reads is rounded with the
// sum. Here the forward pass alone reads one, where the way back reads another
// that is computed again: a last bit of what comes of it differs.
TEST(Checkpoint, StateChangesOnce) {
  sn::Tensor x = input(8, 4);
  auto run = [&](bool again, sn::Numerics mode) {
    sn::numerics_scope scope(mode);
    sn::manual_seed(1);
    sn::nn::Linear linear(4, 4);
    sn::nn::BatchNorm norm(4);
    auto function = [&](const sn::Tensor &at) { return norm(linear(at)); };
    sn::Tensor y = again ? sn::checkpoint(function, x) : function(x);
    sn::Tensor loss = sn::mean(y * y * y);
    sn::Gradients gradients = loss.backward();
    std::vector<Values> bits =
        bitsOf({loss, gradients(linear.weight), gradients(norm.weight)});
    bits.push_back(norm.running_mean.tensor().to_vector<float>());
    bits.push_back(norm.running_var.tensor().to_vector<float>());
    return bits;
  };
  EXPECT_EQ(run(true, sn::Numerics::exact), run(false, sn::Numerics::exact));
  std::vector<Values> again = run(true, sn::Numerics::standard);
  std::vector<Values> kept = run(false, sn::Numerics::standard);
  for (size_t i = 0; i < kept.size(); ++i)
    for (size_t j = 0; j < kept[i].size(); ++j)
      EXPECT_NEAR(again[i][j], kept[i][j], 1e-5 * std::abs(kept[i][j])) << i;
}

TEST(Checkpoint, IndicesAndLabelsComeFromOutside) {
  sn::manual_seed(5);
  sn::nn::Embedding table(7, 4);
  sn::Tensor at = sn::tensor(std::vector<int64_t>{1, 6, 1, 0}, {4});
  auto run = [&](bool again) {
    auto function = [&](const sn::Tensor &indices) {
      return sn::cross_entropy(sn::tanh(table(indices)),
                               sn::remainder(indices, 4));
    };
    sn::Tensor loss = again ? sn::checkpoint(function, at) : function(at);
    return bitsOf({loss, loss.backward()(table.weight)});
  };
  EXPECT_EQ(run(true), run(false));
}
