/// Sequences, and gradients of several batches.
#include "tests/e2e/training/killed/Killed.h"

#include <cmath>

namespace killed {

namespace {

struct Forecast {
  sn::nn::GRU gru{2, 12, {.batch_first = true}};
  sn::nn::Dropout dropout{0.1};
  sn::nn::Linear head{12, 1};

  /// Sequences f32[n,t,2] to the next number f32[n,1].
  sn::Tensor forward(const sn::Tensor &x) const {
    return head(dropout(sn::select(gru.forward(x).output, 1, -1)));
  }
  SINTER_MODULE(Forecast, gru, dropout, head)
};

constexpr int64_t steps = 9;
using Item = std::pair<std::vector<float>, float>;
struct Batch {
  sn::Tensor x, next;
};

std::vector<Item> waves() {
  std::vector<Item> all;
  for (int64_t i = 0; i < 50; ++i) {
    double phase = 0.7 * double(i), pace = 0.2 + 0.01 * double(i);
    Item item;
    for (int64_t t = 0; t < steps; ++t) {
      item.first.push_back(float(std::sin(phase + pace * double(t))));
      item.first.push_back(float(std::cos(phase - pace * double(t))));
    }
    item.second = float(std::sin(phase + pace * double(steps)));
    all.push_back(std::move(item));
  }
  return all;
}

Batch batchOf(const std::vector<Item> &items) {
  std::vector<float> x, next;
  for (const auto &[sequence, number] : items) {
    x.insert(x.end(), sequence.begin(), sequence.end());
    next.push_back(number);
  }
  auto n = static_cast<int64_t>(items.size());
  return {sn::tensor(x, {n, steps, 2}), sn::tensor(next, {n, 1})};
}

} // namespace

void train_gru(const Flags &flags) {
  sn::train::LearnerOptions options = optionsOf(flags);
  options.accumulate = 2;
  options.clip_norm = 0.5;
  Forecast model;
  sn::optim::AdamW adamw({.lr = 0.02});
  sn::data::InMemory items(waves());
  sn::data::DataLoader loader(
      items, {.batch_size = 8, .sampler = sn::data::random_sampler(6)},
      batchOf);
  auto step = [](const Forecast &net, const Batch &batch) {
    sn::Tensor guess = net.forward(batch.x);
    return sn::metrics::RegressionOutput{sn::mse_loss(guess, batch.next), guess,
                                         batch.next};
  };
  sn::train::Learner learner(model, adamw, step, options);
  learner.schedule(sn::optim::step_lr({.step_size = 10, .gamma = 0.8}));
  learner.metric(sn::metrics::MeanAbsoluteError());
  finish(flags, learner, loader);
  if (!flags.weights.empty())
    model.save(flags.weights);
}

} // namespace killed
