/// What the training tests share: a small model, its data, and counters.
#pragma once

#include "runtime/device/Device.h"

#include <sinter/Basic.h>
#include <sinter/nn/Linear.h>
#include <sinter/optim/Adam.h>

#include <cmath>
#include <string>
#include <vector>

namespace training {

namespace sn = sinter;

/// `width` makes the programs of one test differ from those of all others.
struct Mlp {
  sn::nn::Linear fc1, fc2;
  explicit Mlp(int64_t width = 8) : fc1(4, width), fc2(width, 3) {}
  sn::Tensor forward(const sn::Tensor &x) const {
    return fc2(sn::relu(fc1(x)));
  }
  SINTER_MODULE(Mlp, fc1, fc2)
};

inline sn::Tensor images(int64_t rows) {
  std::vector<float> values(rows * 4);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i));
  return sn::tensor(values, {rows, 4});
}

inline sn::Tensor labels(int64_t rows) {
  std::vector<int64_t> values(rows);
  for (int64_t i = 0; i < rows; ++i)
    values[i] = (i * i) % 3;
  return sn::tensor(values, {rows});
}

/// Programs that a memory cache did not have yet: compiled or from disk.
inline uint64_t programsMade() {
  sn::Stats stats = sn::stats();
  return stats.compiles + stats.disk_hits;
}

/// Bytes of live tensors.
inline size_t bytesInUse() {
  auto device = sn::runtime::getDevice(sn::default_device());
  return device ? (*device)->memoryInfo().inUse : 0;
}

/// Bytes of heap memory in use by the process.
size_t heapInUse();

/// Why programs were made, for messages.
std::string missesText();

} // namespace training
