/// Linear: x * weight^T + bias.
#include <sinter/nn/Linear.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>

#include <cmath>

namespace sinter::nn {

Linear::Linear(int64_t in, int64_t out, const LinearOptions &options,
               Where where) try {
  detail::Arguments("linear", where).positive("in", in).positive("out", out);
  double bound = 1 / std::sqrt(static_cast<double>(in));
  Init init = init::uniform(-bound, bound);
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {out, in}, init, param, where);
  if (options.bias)
    bias = Param("bias", {out}, init, param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor Linear::forward(const Tensor &x) const try {
  Tensor y = matmul(x, transpose(weight, {1, 0}));
  return bias.defined() ? y + bias : y;
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::nn
