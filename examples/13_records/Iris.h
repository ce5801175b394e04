/// Iris: the model, the data and the run that the programs of this folder
/// share.
#pragma once

#include <sinter/Basic.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sn = sinter;

constexpr int64_t measures = 4, kinds = 3;

struct Mlp {
  sn::nn::Linear fc1, fc2;
  sn::nn::Dropout dropout{0.1};
  explicit Mlp(int64_t hidden = 16)
      : fc1(measures, hidden), fc2(hidden, kinds) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::relu(fc1(x))));
  }
  SINTER_MODULE(Mlp, fc1, fc2, dropout)
};

/// The four measures and the kind; batches are pairs of tensors.
using Flower = std::pair<std::array<float, measures>, int64_t>;
using Flowers = sn::data::InMemory<Flower>;

/// Centimetres, brought to about [-1, 1].
inline Flowers loadFlowers(const std::string &path) {
  sn::data::CsvDataset rows(path);
  std::vector<Flower> flowers(rows.size());
  for (int64_t i = 0; i < rows.size(); ++i) {
    auto row = rows.get(i);
    for (int64_t j = 0; j < measures; ++j)
      flowers[i].first[j] = static_cast<float>(row[j] - 4) / 4;
    flowers[i].second = static_cast<int64_t>(row[measures]);
  }
  return Flowers(std::move(flowers));
}

/// What a run has come to, for people.
struct Progress {
  int64_t steps = 0;
  double loss = 0;            ///< of the last batch
  std::vector<double> losses; ///< of the last batch of each epoch
  SINTER_RECORD(Progress, steps, loss, losses)
};

/// All that a run consists of.
struct Run {
  Mlp model;
  sn::optim::Adam adam{{.lr = 0.02}};
  sn::optim::Scheduler schedule{adam, sn::optim::exponential_lr(0.999)};
  sn::data::DataLoader<Flowers> loader;
  Progress progress;

  explicit Run(const std::string &csv)
      : loader(loadFlowers(csv), {.batch_size = 16,
                                  .workers = 2,
                                  .sampler = sn::data::random_sampler(7)}) {}

  /// One batch.
  void step(const sn::Tensor &flowers, const sn::Tensor &labels) {
    sn::Tensor loss = sn::cross_entropy(model.forward(flowers), labels);
    adam.step(model, loss.backward());
    schedule.step();
    ++progress.steps;
    progress.loss = loss.item<double>();
  }

  sn::Record record() const {
    sn::Record record;
    record.put("model", model);
    record.put("adam", adam);
    record.put("schedule", schedule);
    record.put("data", loader);
    record.put("random", sn::default_generator());
    record.put("progress", progress);
    return record;
  }
  void load(const sn::Record &record) {
    record.get("model", model);
    record.get("adam", adam, model);
    record.get("schedule", schedule);
    record.get("data", loader);
    record.get("random", sn::default_generator());
    record.get("progress", progress);
  }
};

/// The share of flowers whose kind is found.
inline double accuracy(const Mlp &model, const std::string &csv) {
  Flowers flowers = loadFlowers(csv);
  sn::data::DataLoader all(flowers, {.batch_size = flowers.size()});
  auto [x, labels] = *all.begin();
  Mlp used = model.valid();
  sn::Tensor found = sn::argmax(used.forward(x), 1) == labels;
  return sn::mean(found.to(sn::DType::f64)).item<double>();
}
