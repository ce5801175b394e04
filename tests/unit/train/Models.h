/// The network of the first trainers: 10 -> 5 -> 2.
#pragma once

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Basic.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace train_test {

struct Mlp {
  sinter::nn::Linear fc1{10, 5}, fc2{5, 2};

  sinter::Tensor forward(const sinter::Tensor &x) const {
    return fc2(sinter::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

struct Batch {
  sinter::Tensor x; ///< f32[n,10]
  sinter::Tensor y; ///< f32[n,2]
};

/// Numbers that depend on `seed` alone, and what a fixed map makes of them.
inline Batch batchOf(int64_t rows, uint64_t seed) {
  std::vector<float> x, y;
  uint64_t state = seed * 2654435761u + 1;
  for (int64_t i = 0; i < rows; ++i) {
    float sum = 0, difference = 0;
    for (int64_t j = 0; j < 10; ++j) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      float value = static_cast<float>(state >> 40) / 8388608.f - 1;
      x.push_back(value);
      (j % 2 ? sum : difference) += value;
    }
    y.push_back(sum / 3);
    y.push_back(difference / 3);
  }
  return {sinter::tensor(x, {rows, 10}), sinter::tensor(y, {rows, 2})};
}

inline sinter::Tensor lossOf(const Mlp &mlp, const Batch &batch) {
  return sinter::mse_loss(mlp.forward(batch.x), batch.y);
}

} // namespace train_test
