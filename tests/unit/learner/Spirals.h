/// A small classification that tests train.
#pragma once

#include "frontend/ElementwiseFunctions.h"
#include <sinter/Metrics.h>

#include <sinter/Basic.h>
#include <sinter/train/Learner.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace spirals {

namespace sn = sinter;

struct Net {
  sn::nn::Linear fc1{2, 16}, fc2{16, 2};
  sn::nn::Dropout dropout{0.1};
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(dropout(sn::tanh(fc1(x))));
  }
  SINTER_MODULE(Net, fc1, fc2, dropout)
};

using Point = std::pair<std::array<float, 2>, int64_t>;
using Batch = std::pair<sn::Tensor, sn::Tensor>;
using Points = sn::data::InMemory<Point>;
using Loader = sn::data::DataLoader<Points>;

/// Two arms, one class each.
inline Points points(int64_t count = 90) {
  std::vector<Point> all;
  for (int64_t i = 0; i < count; ++i) {
    double turn = 0.1 * static_cast<double>(i / 2);
    double sign = i % 2 ? 1 : -1;
    all.push_back({{static_cast<float>(sign * turn * std::cos(turn) / 4),
                    static_cast<float>(sign * turn * std::sin(turn) / 4)},
                   i % 2});
  }
  return Points(std::move(all));
}

/// Batches of 16, and a short last one.
inline sn::data::LoaderOptions shuffled(int64_t workers = 0) {
  return {.batch_size = 16,
          .workers = workers,
          .sampler = sn::data::random_sampler(3)};
}

inline sn::metrics::ClassificationOutput step(const Net &net,
                                              const Batch &batch) {
  sn::Tensor logits = net.forward(batch.first);
  return {sn::cross_entropy(logits, batch.second), logits, batch.second};
}

/// All numbers of a model, in order.
template <typename M> std::vector<float> numbersOf(const M &model) {
  std::vector<float> all;
  model.visit([&](const std::string &, const sn::Param &param) {
    auto values = param.tensor().template to_vector<float>();
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

/// Everything that is trained, made alike each time.
struct Training {
  Net net;
  sn::optim::Adam adam{{.lr = 0.02}};
  Loader loader;
  Loader valid{points(32), {.batch_size = 20}};

  explicit Training(int64_t workers = 0)
      : loader(points(), shuffled(workers)) {}
};

/// The net that every test begins with.
inline Training begun(int64_t workers = 0) {
  sn::manual_seed(5);
  return Training(workers);
}

} // namespace spirals
