/// Activations as layers: those of ops/Activations.td.
#include <sinter/nn/Sequential.h>

#include <sinter/generated/functions/Activations.h>

namespace sinter::nn {

Tensor LeakyReLU::operator()(const Arg &x) const {
  return leaky_relu(x, negative_slope);
}

Tensor ELU::operator()(const Arg &x) const { return elu(x, alpha); }

Tensor SELU::operator()(const Arg &x) const { return selu(x); }

Tensor Mish::operator()(const Arg &x) const { return mish(x); }

Tensor Hardsigmoid::operator()(const Arg &x) const { return hardsigmoid(x); }

Tensor Hardswish::operator()(const Arg &x) const { return hardswish(x); }

Tensor LogSigmoid::operator()(const Arg &x) const { return logsigmoid(x); }

Tensor Softplus::operator()(const Arg &x) const {
  return softplus(x, beta, threshold);
}

} // namespace sinter::nn
