/// LayerNorm: rows brought to mean 0 and variance 1, scaled and shifted.
#pragma once

#include <sinter/Module.h>

#include <source_location>

namespace sinter::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  DType dtype = DType::f32;
};

/// Over the last axis. Names and first values are PyTorch's: `weight` ones,
/// `bias` zeros.
class LayerNorm {
public:
  using Where = std::source_location;

  LayerNorm() = default;
  explicit LayerNorm(int64_t size, const LayerNormOptions &options = {},
                     Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias;
  double eps = 1e-5;

  SINTER_MODULE(LayerNorm, weight, bias)
};

} // namespace sinter::nn
