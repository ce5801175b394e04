/// Transformers, sequences of layers and embeddings.
#include "tests/unit/nn/Modules.h"

#include <sinter/generated/functions/Activations.h>

namespace sn = sinter;
using Names = std::vector<std::string>;
using Values = std::vector<float>;

TEST(Transformer, NamesAreThoseOfPyTorch) {
  sn::nn::TransformerDecoderLayer layer(4, 2, {.dim_feedforward = 3});
  EXPECT_EQ(
      namesOf(layer),
      (Names{"self_attn.in_proj_weight", "self_attn.in_proj_bias",
             "self_attn.out_proj.weight", "self_attn.out_proj.bias",
             "multihead_attn.in_proj_weight", "multihead_attn.in_proj_bias",
             "multihead_attn.out_proj.weight", "multihead_attn.out_proj.bias",
             "linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias",
             "norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias",
             "norm3.weight", "norm3.bias"}));
  Names names = namesOf(sn::nn::TransformerEncoder(4, 2, 2, {}, true));
  EXPECT_EQ(names.size(), 2u * 12 + 2);
  EXPECT_EQ(names[12], "layers.1.self_attn.in_proj_weight");
  EXPECT_EQ(names.back(), "norm.bias");
  EXPECT_EQ(namesOf(sn::nn::MultiHeadAttention(4, 2, {.kdim = 3})),
            (Names{"q_proj_weight", "k_proj_weight", "v_proj_weight",
                   "in_proj_bias", "out_proj.weight", "out_proj.bias"}));
}

TEST(Transformer, PaddingHidesKeys) {
  sn::nn::MultiHeadAttention attention(4, 2);
  sn::Tensor x = waves({2, 3, 4}, 0.7);
  sn::Tensor hidden = sn::tensor(
      std::vector<bool>{false, false, true, false, false, true}, {2, 3});
  sn::Tensor seen = sn::slice(x, {0, 0, 0}, {2, 2, 4}, {1, 1, 1});
  expectNear(attention(x, sn::AttentionOptions(), hidden),
             attention.attend(x, seen, seen));
  sn::Tensor weights = attention.weights(x, x, {.causal = true}, hidden);
  auto shares = weights.to_vector<float>();
  EXPECT_EQ(shares[0], 1); // of the first by itself
  EXPECT_EQ(shares[2], 0);
  EXPECT_EQ(shares[8], 0); // hidden
  EXPECT_NEAR(shares[6] + shares[7], 1, 1e-6);
}

TEST(Transformer, MasksOfBothKindsGoTogether) {
  sn::nn::MultiHeadAttention attention(4, 2);
  sn::Tensor x = waves({1, 3, 4}, 0.7);
  sn::Tensor hidden = sn::tensor(std::vector<bool>{false, true, false}, {1, 3});
  sn::Tensor zero = sn::zeros({3, 3});
  sn::Tensor all = zero == 0.0;
  sn::Tensor want = attention(x, sn::AttentionOptions(), hidden);
  expectNear(attention(x, sn::AttentionOptions{.mask = zero}, hidden), want);
  expectNear(attention(x, sn::AttentionOptions{.mask = all}, hidden), want);
}

TEST(Transformer, PositionFirstIsBatchFirstTurned) {
  sn::nn::MultiHeadAttention attention(4, 2), other = attention;
  other.batch_first = false;
  sn::Tensor x = waves({2, 3, 4}, 0.7);
  auto turned = [](const sn::Tensor &y) { return sn::transpose(y, {1, 0, 2}); };
  expectNear(other(turned(x)), turned(attention(x)));
}

TEST(Transformer, DropoutIsInTrainingOnly) {
  sn::nn::TransformerEncoder encoder(4, 2, 2,
                                     {.dim_feedforward = 3, .dropout = 0.5});
  sn::Tensor x = waves({2, 3, 4}, 0.7);
  auto first = encoder(x).to_vector<float>();
  EXPECT_NE(encoder(x).to_vector<float>(), first);
  encoder.eval();
  first = encoder(x).to_vector<float>();
  EXPECT_EQ(encoder(x).to_vector<float>(), first);
}

TEST(Transformer, PositionsAreSinesAndCosines) {
  sn::nn::PositionalEncoding encoding;
  auto y = encoding(sn::zeros({1, 3, 4})).to_vector<float>();
  for (int t = 0; t < 3; ++t) {
    EXPECT_NEAR(y[4 * t], std::sin(float(t)), 1e-5);
    EXPECT_NEAR(y[4 * t + 1], std::cos(float(t)), 1e-5);
    EXPECT_NEAR(y[4 * t + 2], std::sin(t / 100.f), 1e-5);
    EXPECT_NEAR(y[4 * t + 3], std::cos(t / 100.f), 1e-5);
  }
  expectRejected("positional_encoding", "f32[1,3,5]",
                 [&] { encoding(sn::zeros({1, 3, 5})); });
}

TEST(Sequential, NamesAreNumbersAndFunctionsAreLayers) {
  sn::nn::Sequential model(
      sn::nn::Linear(2, 3), sn::nn::ReLU(),
      [](const sn::Tensor &x) { return x * 2.0; }, sn::nn::BatchNorm1d(3),
      sn::nn::Linear(3, 1));
  EXPECT_EQ(
      namesOf(model),
      (Names{"0.weight", "0.bias", "3.weight", "3.bias", "3.running_mean",
             "3.running_var", "3.num_batches_tracked", "4.weight", "4.bias"}));
  EXPECT_EQ(model.num_params(), 9 + 6 + 4);
  model.eval();
  EXPECT_FALSE(model.get<3>().mode.training);
  auto copy = model;
  sn::Tensor x = waves({4, 2}, 0.7);
  expectNear(copy(x), model(x), 0);
  EXPECT_NE(copy.get<0>().weight.cell(), model.get<0>().weight.cell());
  expectRejected("matmul", "f32[4,5]", [&] { model(sn::zeros({4, 5})); });
}

TEST(Sequential, ActivationsAreTheirFunctions) {
  sn::Tensor x = waves({3, 4}, 2.3);
  expectNear(sn::nn::LeakyReLU{0.2}(x), sn::leaky_relu(x, 0.2), 0);
  expectNear(sn::nn::ELU{0.5}(x), sn::elu(x, 0.5), 0);
  expectNear(sn::nn::SELU()(x), sn::selu(x), 0);
  expectNear(sn::nn::Mish()(x), sn::mish(x), 0);
  expectNear(sn::nn::Hardsigmoid()(x), sn::hardsigmoid(x), 0);
  expectNear(sn::nn::Hardswish()(x), sn::hardswish(x), 0);
  expectNear(sn::nn::LogSigmoid()(x), sn::logsigmoid(x), 0);
  expectNear(sn::nn::Softplus{2}(x), sn::softplus(x, 2), 0);
  expectNear(sn::nn::Softmax{0}(x), sn::softmax(x, 0), 0);
  expectNear(sn::nn::LogSoftmax()(x), sn::log_softmax(x), 0);
  sn::nn::Sequential model(sn::nn::Linear(4, 3), sn::nn::LeakyReLU{0.2},
                           sn::nn::Softmax());
  EXPECT_EQ(model(x).dim(1).value, 3);
}

TEST(Embedding, PaddingIsZeroAndIsNotTrained) {
  sn::nn::Embedding table(4, 2, {.padding_idx = -2});
  auto rows = table.weight.tensor().to_vector<float>();
  EXPECT_EQ(rows[4], 0);
  EXPECT_EQ(rows[5], 0);
  EXPECT_NE(rows[0], 0);
  sn::Tensor y = table(sn::tensor({2, 1, 2}));
  auto gradient = sn::sum(y).backward()(table.weight).to_vector<float>();
  EXPECT_EQ(gradient, (Values{0, 0, 1, 1, 0, 0, 0, 0}));
  expectRejected("embedding", "none of 4 rows",
                 [] { sn::nn::Embedding(4, 2, {.padding_idx = 4}); });
}

TEST(EmbeddingBag, SumsAndMeansOfBags) {
  sn::nn::EmbeddingBag bag(3, 2, {.mode = sn::nn::BagMode::sum});
  bag.weight.set(sn::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}));
  sn::Tensor flat = sn::tensor({0, 1, 2, 2, 1}),
             offsets = sn::tensor({0, 2, 2});
  EXPECT_EQ(bag(flat, offsets).to_vector<float>(),
            (Values{4, 6, 0, 0, 13, 16}));
  EXPECT_EQ(bag(sn::tensor({{0, 2}})).to_vector<float>(), (Values{6, 8}));
  bag.mode = sn::nn::BagMode::mean;
  expectNear(bag(flat, offsets),
             sn::tensor({2.f, 3.f, 0.f, 0.f, 13.f / 3, 16.f / 3}));
  bag.mode = sn::nn::BagMode::max;
  EXPECT_EQ(bag(sn::tensor({{2, 0}})).to_vector<float>(), (Values{5, 6}));
  EXPECT_EQ(bag(flat, offsets).to_vector<float>(), (Values{3, 4, 0, 0, 5, 6}));
  sn::Tensor rows = sn::ones({3, 2});
  expectRejected("embedding_bag", "expects indices [total] and offsets [n]",
                 [&] { sn::embedding_bag(rows, flat, rows.to(flat.dtype())); });
}
