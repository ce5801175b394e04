/// LayerNorm: rows brought to mean 0 and variance 1, scaled and shifted.
#include <sinter/nn/LayerNorm.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/Normalization.h>

namespace sinter::nn {

LayerNorm::LayerNorm(const Dims &shape, const LayerNormOptions &options,
                     Where where) try
    : shape(shape), eps(options.eps) {
  detail::Arguments call("layer_norm", where);
  call.notNegative("eps", eps);
  for (Dim size : shape)
    call.positive("shape", size.value);
  ParamOptions param{.dtype = options.dtype};
  if (!options.elementwise_affine)
    return;
  weight = Param("weight", shape, init::ones(), param, where);
  if (options.bias)
    bias = Param("bias", shape, init::zeros(), param, where);
} catch (...) {
  detail::raiseExhausted(where);
}

Tensor LayerNorm::forward(const Tensor &x) const try {
  if (bias.defined() && shape.size() == 1)
    return layer_norm(x, weight, bias, eps);
  Affine affine{.eps = eps};
  if (weight.defined())
    affine.weight = weight.tensor();
  if (bias.defined())
    affine.bias = bias.tensor();
  return layer_norm(x, shape, affine);
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter::nn
