/// LayerNorm: rows brought to mean 0 and variance 1, scaled and shifted.
#pragma once

#include <sinter/Module.h>

#include <source_location>

namespace sinter::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  DType dtype = DType::f32;
  bool elementwise_affine = true; ///< whether there are weight and bias
  bool bias = true;
};

/// Over the last axis, or the last ones. Names and first values are PyTorch's:
/// `weight` ones, `bias` zeros, of the shape that is normalized.
class LayerNorm {
public:
  using Where = std::source_location;

  LayerNorm() = default;
  explicit LayerNorm(int64_t size, const LayerNormOptions &options = {},
                     Where where = Where::current())
      : LayerNorm(Dims{size}, options, where) {}
  explicit LayerNorm(const Dims &shape, const LayerNormOptions &options = {},
                     Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight; ///< empty without elementwise_affine
  Param bias;   ///< empty without one
  Dims shape;
  double eps = 1e-5;

  SINTER_MODULE(LayerNorm, weight, bias)
};

} // namespace sinter::nn
