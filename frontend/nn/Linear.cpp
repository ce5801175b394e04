/// Linear: x * weight^T + bias.
#include <sinter/nn/Linear.h>

#include <sinter/BasicOps.h>

#include <algorithm>
#include <cmath>

namespace sinter::nn {

Linear::Linear(int64_t in, int64_t out, const LinearOptions &options,
               Where where) {
  double bound = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(in, 1)));
  Init init = init::uniform(-bound, bound);
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {out, in}, init, param, where);
  if (options.bias)
    bias = Param("bias", {out}, init, param, where);
}

Tensor Linear::forward(const Tensor &x) const {
  Tensor y = matmul(x, transpose(weight, {1, 0}));
  return bias ? y + bias : y;
}

} // namespace sinter::nn
