/// LayerNorm: rows brought to mean 0 and variance 1, scaled and shifted.
#include <sinter/nn/LayerNorm.h>

#include <sinter/Ops.h>

namespace sinter::nn {

LayerNorm::LayerNorm(int64_t size, const LayerNormOptions &options, Where where)
    : eps(options.eps) {
  ParamOptions param{.dtype = options.dtype};
  weight = Param("weight", {size}, init::ones(), param, where);
  bias = Param("bias", {size}, init::zeros(), param, where);
}

Tensor LayerNorm::forward(const Tensor &x) const {
  return layer_norm(x, weight, bias, eps);
}

} // namespace sinter::nn
