/// PReLU, GLU and SwiGLU: activations as modules.
#pragma once

#include <sinter/Arguments.h>
#include <sinter/Gates.h>
#include <sinter/Module.h>
#include <sinter/nn/Linear.h>

#include <source_location>

namespace sinter::nn {

struct PReLUOptions {
  double init = 0.25;
  DType dtype = DType::f32;
};

/// `prelu` with one weight, or one for each channel. The name and the first
/// values are PyTorch's: `weight` [count], 0.25.
class PReLU {
public:
  using Where = std::source_location;

  explicit PReLU(int64_t count = 1, const PReLUOptions &options = {},
                 Where where = Where::current())
      : weight("weight", {count}, init::constant(options.init),
               {.dtype = options.dtype}, where) {
    detail::Arguments("prelu", where).positive("count", count);
  }

  Tensor forward(const Tensor &x) const { return prelu(x, weight); }

  Param weight;

  SINTER_MODULE(PReLU, weight)
};

/// `glu`.
class GLU {
public:
  explicit GLU(int64_t axis = -1) : axis(axis) {}

  Tensor forward(const Tensor &x) const { return glu(x, axis); }

  int64_t axis;

  SINTER_MODULE(GLU, axis)
};

/// w2(silu(w1 x) * w3 x): the feed-forward network of newer transformers.
class SwiGLU {
public:
  using Where = std::source_location;

  SwiGLU() = default;
  SwiGLU(int64_t size, int64_t hidden,
         const LinearOptions &options = {.bias = false},
         Where where = Where::current())
      : w1(size, hidden, options, where), w2(hidden, size, options, where),
        w3(size, hidden, options, where) {}

  Tensor forward(const Tensor &x) const { return w2(silu(w1(x)) * w3(x)); }

  Linear w1, w2, w3;

  SINTER_MODULE(SwiGLU, w1, w2, w3)
};

} // namespace sinter::nn
