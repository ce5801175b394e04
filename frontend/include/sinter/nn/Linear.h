/// Linear: x * weight^T + bias.
#pragma once

#include <sinter/Module.h>

#include <source_location>

namespace sinter::nn {

struct LinearOptions {
  bool bias = true;
  DType dtype = DType::f32;
};

/// Maps the last axis from `in` to `out` elements. Names and first values are
/// PyTorch's: `weight` [out, in] and `bias` [out], uniform in
/// +-1/sqrt(in). Both sizes are 1 or more.
class Linear {
public:
  using Where = std::source_location;

  Linear() = default;
  Linear(int64_t in, int64_t out, const LinearOptions &options = {},
         Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one

  SINTER_MODULE(Linear, weight, bias)
};

} // namespace sinter::nn
