/// RunOnOnes: records whatever model was read.
#pragma once

#include <sinter/Creation.h>
#include <sinter/Onnx.h>

#include <algorithm>
#include <cstdint>

namespace sinter::onnx_test {

/// Whether a tensor of that type has few elements.
inline bool isSmall(const onnx::ValueInfo &info) {
  int64_t count = 1;
  for (const onnx::Axis &axis : *info.shape) {
    int64_t size = axis.size.value_or(2);
    if (size < 0 || size > 64)
      return false;
    count = std::min<int64_t>(count * size, 1 << 20);
  }
  return count <= 4096 && info.shape->size() <= 6;
}

/// Records the model on ones of the null device, and evaluates nothing; false
/// where an input is not known, not small, or of a dtype that has no ones.
inline bool runOnOnes(const onnx::Model &model) {
  onnx::NamedTensors inputs;
  for (const onnx::ValueInfo &info : model.inputs()) {
    if (!info.dtype || !isComputable(*info.dtype) || !info.shape ||
        !isSmall(info))
      return false;
    Dims dims;
    for (const onnx::Axis &axis : *info.shape)
      dims.emplace_back(axis.size.value_or(2));
    inputs[info.name] = ones(dims, {info.dtype, device("null")});
  }
  model.run(inputs);
  return true;
}

} // namespace sinter::onnx_test
