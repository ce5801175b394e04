/// Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d.
#include <sinter/nn/Conv.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>

#include <cmath>

namespace sinter::nn {

using Where = std::source_location;

namespace {
struct Weights {
  Param weight, bias;
};
} // namespace

/// What ConvLayer and ConvTransposeLayer have in common.
template <typename Options>
static void checkConv(const detail::Arguments &call, int64_t in, int64_t out,
                      const Axes &kernel, size_t rank, const Options &options) {
  call.positive("in", in)
      .positive("out", out)
      .positive("groups", options.groups)
      .divides("in", in, "groups", options.groups)
      .divides("out", out, "groups", options.groups)
      .eachAtLeast(1, "kernel", kernel, rank)
      .eachAtLeast(1, "stride", options.stride, rank)
      .eachAtLeast(0, "padding", options.padding, rank)
      .eachAtLeast(1, "dilation", options.dilation, rank);
}

/// A weight [rows, columns / groups, kernel...] and a bias [out].
template <typename Options>
static Weights makeWeights(int64_t rows, int64_t columns, int64_t out,
                           const Axes &kernel, size_t rank,
                           const Options &options, Where where) {
  int64_t fan = columns / options.groups;
  Dims shape{rows, fan};
  for (size_t i = 0; i < rank; ++i) {
    int64_t size = kernel.begin()[kernel.size() == 1 ? 0 : i];
    shape.emplace_back(size);
    fan *= size;
  }
  double bound = 1 / std::sqrt(static_cast<double>(fan));
  Init init = init::uniform(-bound, bound);
  ParamOptions param{.dtype = options.dtype};
  Weights weights{Param("weight", shape, init, param, where), {}};
  if (options.bias)
    weights.bias = Param("bias", {out}, init, param, where);
  return weights;
}

static ConvOptions callOptions(const ConvLayerOptions &o) {
  return {o.stride, o.padding, o.dilation, o.groups, o.same, o.layout};
}
static ConvTransposeOptions callOptions(const ConvTransposeLayerOptions &o) {
  return {o.stride,   o.padding, o.output_padding,
          o.dilation, o.groups,  o.layout};
}

template <int spaces>
ConvLayer<spaces>::ConvLayer(int64_t in, int64_t out, const Axes &kernel,
                             const ConvLayerOptions &options, Where where) try
    : options(callOptions(options)) {
  checkConv(detail::Arguments("conv", where), in, out, kernel, spaces, options);
  Weights made = makeWeights(out, in, out, kernel, spaces, options, where);
  weight = std::move(made.weight);
  bias = std::move(made.bias);
} catch (...) {
  detail::raiseExhausted(where);
}

template <int spaces>
Tensor ConvLayer<spaces>::forward(const Tensor &x) const try {
  auto call = [&](const auto &...bias) {
    return spaces == 1 ? conv1d(x, weight, bias..., options)
                       : conv2d(x, weight, bias..., options);
  };
  return bias.defined() ? call(bias) : call();
} catch (...) {
  detail::raiseExhausted({});
}

template <int spaces>
ConvTransposeLayer<spaces>::ConvTransposeLayer(
    int64_t in, int64_t out, const Axes &kernel,
    const ConvTransposeLayerOptions &options, Where where) try
    : options(callOptions(options)) {
  detail::Arguments call("conv_transpose", where);
  checkConv(call, in, out, kernel, spaces, options);
  call.eachAtLeast(0, "output_padding", options.output_padding, spaces);
  Weights made = makeWeights(in, out, out, kernel, spaces, options, where);
  weight = std::move(made.weight);
  bias = std::move(made.bias);
} catch (...) {
  detail::raiseExhausted(where);
}

template <int spaces>
Tensor ConvTransposeLayer<spaces>::forward(const Tensor &x) const try {
  auto call = [&](const auto &...bias) {
    return spaces == 1 ? conv_transpose1d(x, weight, bias..., options)
                       : conv_transpose2d(x, weight, bias..., options);
  };
  return bias.defined() ? call(bias) : call();
} catch (...) {
  detail::raiseExhausted({});
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;

} // namespace sinter::nn
