/// Recurrent layers: names, first states, shapes, and what runs.
#include "tests/unit/nn/Modules.h"

namespace sn = sinter;
using Names = std::vector<std::string>;

TEST(Recurrent, NamesAreThoseOfPyTorch) {
  EXPECT_EQ(
      namesOf(sn::nn::GRU(2, 3, {.num_layers = 2})),
      (Names{"weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
             "weight_ih_l1", "weight_hh_l1", "bias_ih_l1", "bias_hh_l1"}));
  EXPECT_EQ(namesOf(sn::nn::LSTM(
                2, 3, {.bias = false, .bidirectional = true, .proj_size = 2})),
            (Names{"weight_ih_l0", "weight_hh_l0", "weight_hr_l0",
                   "weight_ih_l0_reverse", "weight_hh_l0_reverse",
                   "weight_hr_l0_reverse"}));
  EXPECT_EQ(namesOf(sn::nn::LSTMCell(2, 3)),
            (Names{"weight_ih", "weight_hh", "bias_ih", "bias_hh"}));
}

TEST(Recurrent, ShapesAreThoseOfPyTorch) {
  sn::nn::LSTM lstm(2, 3, {.num_layers = 2, .bidirectional = true});
  EXPECT_EQ(lstm.num_params(),
            2 * (12 * 2 + 12 * 3 + 24) + 2 * (12 * 6 + 12 * 3 + 24));
  auto [y, h, c] = lstm(waves({5, 4, 2}, 0.7));
  EXPECT_EQ(y.to_vector<float>().size(), 5u * 4 * 6);
  EXPECT_EQ(h.dim(0).value, 4);
  EXPECT_EQ(c.dim(2).value, 3);
}

TEST(Recurrent, WithoutAStateItIsZero) {
  sn::nn::GRU gru(2, 3);
  sn::Tensor x = waves({5, 4, 2}, 0.7);
  expectNear(gru(x).output, gru(x, sn::zeros({1, 4, 3})).output, 0);
}

TEST(Recurrent, OneSequenceNeedsNoBatch) {
  sn::nn::LSTM lstm(2, 3, {.bidirectional = true});
  sn::Tensor x = waves({5, 2}, 0.7);
  auto one = lstm(x);
  auto batch = lstm(sn::unsqueeze(x, 1));
  EXPECT_EQ(one.output.rank(), 2);
  EXPECT_EQ(one.h_n.rank(), 2);
  expectNear(one.output, batch.output, 0);
  expectNear(one.c_n, batch.c_n, 0);
}

TEST(Recurrent, ALayerIsItsCellStepByStep) {
  sn::nn::GRU gru(2, 3);
  sn::nn::GRUCell cell(2, 3);
  cell.weight_ih.set(gru.params.find("weight_ih_l0")->tensor().detach());
  cell.weight_hh.set(gru.params.find("weight_hh_l0")->tensor().detach());
  cell.bias_ih.set(gru.params.find("bias_ih_l0")->tensor().detach());
  cell.bias_hh.set(gru.params.find("bias_hh_l0")->tensor().detach());
  sn::Tensor x = waves({4, 2, 2}, 0.7), h;
  for (int64_t t = 0; t < 4; ++t)
    h = cell(sn::squeeze(sn::index_select(x, sn::tensor({t}), 0), 0), h);
  expectNear(gru(x).h_n, sn::unsqueeze(h, 0));
}

TEST(Recurrent, TrainingASequenceIsOneProgram) {
  sn::nn::LSTM lstm(2, 3, {.num_layers = 2});
  sn::optim::Sgd sgd;
  auto step = [&](int64_t length) {
    auto result = lstm(waves({length, 4, 2}, 0.7));
    sgd.step(lstm, sn::sum(result.output).backward());
    lstm.params.find("weight_hh_l0")->tensor().eval();
  };
  step(3);
  EXPECT_EQ(workOf([&] { step(3); }).runs, 1u);
  EXPECT_EQ(workOf([&] { step(3); }).programs, 0u);
}

TEST(Recurrent, DropoutIsBetweenLayersAndInTrainingOnly) {
  sn::nn::GRU gru(2, 3, {.num_layers = 2, .dropout = 0.5});
  sn::Tensor x = waves({5, 4, 2}, 0.7);
  auto first = gru(x).output.to_vector<float>();
  EXPECT_NE(gru(x).output.to_vector<float>(), first);
  gru.eval();
  first = gru(x).output.to_vector<float>();
  EXPECT_EQ(gru(x).output.to_vector<float>(), first);
}

TEST(Recurrent, CopiesHaveParametersOfTheirOwn) {
  sn::nn::RNN rnn(2, 3, {}, sn::nn::Nonlinearity::relu);
  sn::nn::RNN copy = rnn;
  sn::Tensor x = waves({5, 4, 2}, 0.7);
  expectNear(copy(x).output, rnn(x).output, 0);
  sn::optim::Sgd sgd({.lr = 1});
  sgd.step(copy, sn::sum(copy(x).output).backward());
  EXPECT_NE(copy(x).output.to_vector<float>(),
            rnn(x).output.to_vector<float>());
}

TEST(Recurrent, ErrorsNameItAndTheLine) {
  sn::nn::LSTM lstm(2, 3, {.batch_first = true});
  expectRejected("lstm", "[n, t, 2]: f32[5,4,3]",
                 [&] { lstm(sn::zeros({5, 4, 3})); });
  sn::nn::GRU gru(2, 3);
  expectRejected("gru", "[1, 4, 3]: f32[1,5,3]",
                 [&] { gru(sn::zeros({5, 4, 2}), sn::zeros({1, 5, 3})); });
  expectRejected("gru", "proj_size",
                 [] { sn::nn::GRU(2, 3, {.proj_size = 1}); });
  sn::nn::LSTMCell cell(2, 3);
  expectRejected("lstm_cell", "f32[4,3]", [&] { cell(sn::zeros({4, 3})); });
}
