/// What layers, optimizers, schedules, losses and loaders refuse to be made of,
/// by the argument's name and value.
#include <sinter/Basic.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace sn = sinter;
namespace nn = sinter::nn;
namespace optim = sinter::optim;
namespace data = sinter::data;

namespace {

struct Refused {
  const char *message; ///< how it begins
  std::function<void()> make;
};

void expectRefused(const std::vector<Refused> &cases) {
  for (const auto &[message, make] : cases) {
    try {
      make();
      ADD_FAILURE() << "accepted: " << message;
    } catch (const sn::Error &error) {
      EXPECT_EQ(error.kind(), sn::ErrorKind::invalid_argument);
      EXPECT_TRUE(error.message().starts_with(message)) << error.message();
      EXPECT_NE(error.site().find("ArgumentsTest.cpp"), std::string::npos)
          << error.what();
    }
  }
}

const double noNumber = std::nan("");

} // namespace

TEST(Arguments, OfLayers) {
  expectRefused({
      {"linear: out is -3, not 1 or more", [] { nn::Linear(0 + 1, -3); }},
      {"linear: in is 0, not 1 or more", [] { nn::Linear(0, 3); }},
      {"embedding: count is 0", [] { nn::Embedding(0, 3); }},
      {"embedding: length is -1", [] { nn::Embedding(3, -1); }},
      {"embedding: padding_idx is 3",
       [] { nn::Embedding(3, 2, {.padding_idx = 3}); }},
      {"embedding_bag: count is 0", [] { nn::EmbeddingBag(0, 3); }},
      {"conv: in is 0", [] { nn::Conv2d(0, 4, 3); }},
      {"conv: out is -1", [] { nn::Conv2d(4, -1, 3); }},
      {"conv: kernel is 0, not 1 or more", [] { nn::Conv2d(4, 4, 0); }},
      {"conv: the count of kernel is 3, not 1 or 2",
       [] { nn::Conv2d(4, 4, {3, 3, 3}); }},
      {"conv: stride is 0", [] { nn::Conv2d(4, 4, 3, {.stride = 0}); }},
      {"conv: padding is -1", [] { nn::Conv2d(4, 4, 3, {.padding = -1}); }},
      {"conv: dilation is 0", [] { nn::Conv1d(4, 4, 3, {.dilation = 0}); }},
      {"conv: groups is 0", [] { nn::Conv2d(4, 4, 3, {.groups = 0}); }},
      {"conv: in is 4, not a multiple of groups 3",
       [] { nn::Conv2d(4, 6, 3, {.groups = 3}); }},
      {"conv_transpose: output_padding is -1",
       [] { nn::ConvTranspose2d(4, 4, 3, {.output_padding = -1}); }},
      {"group_norm: channels is 4, not a multiple of groups 3",
       [] { nn::GroupNorm(3, 4); }},
      {"group_norm: groups is 0", [] { nn::GroupNorm(0, 4); }},
      {"group_norm: eps is -1", [] { nn::GroupNorm(2, 4, {.eps = -1}); }},
      {"instance_norm: channels is 0", [] { nn::InstanceNorm(0); }},
      {"rms_norm: shape is 0", [] { nn::RMSNorm({0}); }},
      {"layer_norm: shape is -4", [] { nn::LayerNorm(-4); }},
      {"layer_norm: eps is nan", [] { nn::LayerNorm(4, {.eps = noNumber}); }},
      {"batch_norm: channels is 0", [] { nn::BatchNorm2d(0); }},
      {"batch_norm: momentum is 2, not in [0, 1]",
       [] { nn::BatchNorm(4, {.momentum = 2}); }},
      {"multi_head_attention: size is 6, not a multiple of heads 4",
       [] { nn::MultiHeadAttention(6, 4); }},
      {"multi_head_attention: heads is 0",
       [] { nn::MultiHeadAttention(6, 0); }},
      {"multi_head_attention: kdim is -1",
       [] { nn::MultiHeadAttention(6, 2, {.kdim = -1}); }},
      {"transformer_encoder_layer: d_model is 6, not a multiple of nhead 4",
       [] { nn::TransformerEncoderLayer(6, 4); }},
      {"transformer_encoder_layer: dropout is 1.5, not in [0, 1]",
       [] { nn::TransformerEncoderLayer(6, 2, {.dropout = 1.5}); }},
      {"transformer_decoder_layer: dim_feedforward is 0",
       [] { nn::TransformerDecoderLayer(6, 2, {.dim_feedforward = 0}); }},
      {"transformer: count is 0", [] { nn::TransformerEncoder(6, 2, 0); }},
      {"lstm: hidden is 0", [] { nn::LSTM(3, 0); }},
      {"gru: dropout is -0.5", [] { nn::GRU(3, 4, {.dropout = -0.5}); }},
      {"rnn: num_layers is 0", [] { nn::RNN(3, 4, {.num_layers = 0}); }},
      {"lstm: proj_size is -1", [] { nn::LSTM(3, 4, {.proj_size = -1}); }},
      {"gru_cell: input is 0", [] { nn::GRUCell(0, 4); }},
      {"dropout: p is 1.5, not in [0, 1]", [] { nn::Dropout(1.5); }},
      {"dropout: p is nan", [] { nn::Dropout layer(noNumber); }},
      {"prelu: count is 0", [] { nn::PReLU(0); }},
      {"max_pool: kernel is 0", [] { nn::MaxPool2d(0); }},
      {"max_pool: stride is -1", [] { nn::MaxPool2d(2, {.stride = -1}); }},
      {"avg_pool: padding is -1", [] { nn::AvgPool1d(2, {.padding = -1}); }},
      {"adaptive_pool: size is 0", [] { nn::AdaptiveAvgPool2d(0); }},
      {"positional_encoding: base is 0", [] { nn::PositionalEncoding(0, 0); }},
      {"rotary_embedding: base is -1",
       [] { nn::RotaryEmbedding(sn::RotaryPairs::halves, -1); }},
  });
}

TEST(Arguments, OfOptimizers) {
  expectRefused({
      {"adam: lr is -1, not a finite number from 0 on",
       [] { optim::Adam({.lr = -1}); }},
      {"adam: lr is nan", [] { optim::Adam({.lr = noNumber}); }},
      {"adam: lr is inf", [] { optim::Adam({.lr = INFINITY}); }},
      {"adam: beta1 is 1, not in [0, 1)", [] { optim::Adam({.beta1 = 1}); }},
      {"adam: beta2 is -0.1", [] { optim::Adam({.beta2 = -0.1}); }},
      {"adam: eps is -1e-08", [] { optim::Adam({.eps = -1e-8}); }},
      {"adamw: weight_decay is -1", [] { optim::AdamW({.weight_decay = -1}); }},
      {"adamax: lr is -1", [] { optim::Adamax({.lr = -1}); }},
      {"nadam: momentum_decay is -1",
       [] { optim::NAdam({.momentum_decay = -1}); }},
      {"radam: beta1 is 2", [] { optim::RAdam({.beta1 = 2}); }},
      {"sgd: lr is -0.1", [] { optim::Sgd({.lr = -0.1}); }},
      {"sgd: momentum is -1", [] { optim::Sgd({.momentum = -1}); }},
      {"rmsprop: alpha is 2", [] { optim::RMSprop({.alpha = 2}); }},
      {"adagrad: lr_decay is -1", [] { optim::Adagrad({.lr_decay = -1}); }},
      {"adadelta: rho is 1.5", [] { optim::Adadelta({.rho = 1.5}); }},
      {"rprop: eta_minus is 2", [] { optim::Rprop({.eta_minus = 2}); }},
      {"rprop: max_step is 0", [] { optim::Rprop({.max_step = 0}); }},
      {"adam: lr is -1",
       [] {
         optim::Adam adam;
         adam.set_lr(-1);
       }},
      {"add_group: weight_decay is -1",
       [] {
         optim::Adam adam;
         nn::Linear layer(2, 2);
         adam.add_group(layer, {.weight_decay = -1});
       }},
  });
}

TEST(Arguments, OfSchedules) {
  optim::Sgd sgd;
  expectRefused({
      {"step_lr: step_size is 0", [] { optim::step_lr({.step_size = 0}); }},
      {"step_lr: gamma is -1", [] { optim::step_lr({.gamma = -1}); }},
      {"constant_lr: factor is -1", [] { optim::constant_lr({.factor = -1}); }},
      {"linear_lr: total_iters is 0",
       [] { optim::linear_lr({.total_iters = 0}); }},
      {"multi_step_lr: a milestone is -1",
       [] { optim::multi_step_lr({.milestones = {-1}}); }},
      {"exponential_lr: gamma is nan", [] { optim::exponential_lr(noNumber); }},
      {"polynomial_lr: power is -1",
       [] { optim::polynomial_lr({.power = -1}); }},
      {"cosine_annealing_lr: T_max is 0",
       [] { optim::cosine_annealing_lr({.T_max = 0}); }},
      {"cosine_annealing_warm_restarts: T_mult is 0",
       [] { optim::cosine_annealing_warm_restarts({.T_mult = 0}); }},
      {"one_cycle_lr: pct_start is 2",
       [] { optim::one_cycle_lr({.pct_start = 2}); }},
      {"cyclic_lr: step_size_up is 0",
       [] { optim::cyclic_lr({.step_size_up = 0}); }},
      {"noam_lr: warmup is 0", [] { optim::noam_lr({.warmup = 0}); }},
      {"warmup_lr: steps is 0",
       [] { optim::warmup_lr(0, optim::constant_lr()); }},
      {"reduce_lr_on_plateau: factor is 1, not in [0, 1)",
       [&] { optim::ReduceLROnPlateau(sgd, {.factor = 1}); }},
      {"reduce_lr_on_plateau: patience is -1",
       [&] { optim::ReduceLROnPlateau(sgd, {.patience = -1}); }},
  });
}

TEST(Arguments, OfLossesAndLoaders) {
  data::InMemory<int> items({1, 2, 3});
  expectRefused({
      {"cross_entropy: label_smoothing is 2",
       [] { nn::CrossEntropyLoss({.label_smoothing = 2}); }},
      {"smooth_l1_loss: beta is -1", [] { nn::SmoothL1Loss({.beta = -1}); }},
      {"huber_loss: delta is 0", [] { nn::HuberLoss({.delta = 0}); }},
      {"data loader: batch_size is 0",
       [&] { data::DataLoader loader(items, {.batch_size = 0}); }},
      {"data loader: workers is -1",
       [&] { data::DataLoader loader(items, {.workers = -1}); }},
      {"data loader: prefetch is 0",
       [&] { data::DataLoader loader(items, {.prefetch = 0}); }},
  });
}

TEST(Arguments, WhatIsAtTheEdgeIsTaken) {
  nn::Linear(1, 1);
  nn::Dropout none(0), all(1);
  optim::Adam({.lr = 0, .beta1 = 0, .beta2 = 0, .eps = 0});
  nn::BatchNorm(1, {.eps = 0, .momentum = std::nullopt});
  nn::Conv2d(1, 1, 1, {.padding = 0});
}
