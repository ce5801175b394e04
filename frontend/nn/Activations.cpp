/// Activations as layers: those of ops/Activations.td.
#include <sinter/nn/Sequential.h>

#include "frontend/Raise.h"

#include <sinter/generated/functions/Activations.h>

namespace sinter::nn {

Tensor LeakyReLU::operator()(const Arg &x) const try {
  return leaky_relu(x, negative_slope);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor ELU::operator()(const Arg &x) const { return elu(x, alpha); }

Tensor SELU::operator()(const Arg &x) const { return selu(x); }

Tensor Mish::operator()(const Arg &x) const { return mish(x); }

Tensor Hardsigmoid::operator()(const Arg &x) const { return hardsigmoid(x); }

Tensor Hardswish::operator()(const Arg &x) const { return hardswish(x); }

Tensor LogSigmoid::operator()(const Arg &x) const { return logsigmoid(x); }

Tensor Softplus::operator()(const Arg &x) const try {
  return softplus(x, beta, threshold);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter::nn
