/// Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d: convolutions with a weight
/// of their own.
#pragma once

#include <sinter/Convolution.h>
#include <sinter/Module.h>

#include <source_location>

namespace sinter::nn {

/// ConvOptions, and what the parameters are.
struct ConvLayerOptions {
  Axes stride = 1;
  Axes padding = 0;
  Axes dilation = 1;
  int64_t groups = 1;
  bool same = false;
  Layout layout = Layout::channels_first;
  bool bias = true;
  DType dtype = DType::f32;
};
/// ConvTransposeOptions, and what the parameters are.
struct ConvTransposeLayerOptions {
  Axes stride = 1;
  Axes padding = 0;
  Axes output_padding = 0;
  Axes dilation = 1;
  int64_t groups = 1;
  Layout layout = Layout::channels_first;
  bool bias = true;
  DType dtype = DType::f32;
};

/// From `in` channels to `out`. Names, shapes and first values are PyTorch's:
/// `weight` [out, in / groups, kernel...] and `bias` [out], uniform in
/// +-1/sqrt(in / groups * elements of the kernel).
template <int spaces> class ConvLayer {
public:
  using Where = std::source_location;

  ConvLayer() = default;
  ConvLayer(int64_t in, int64_t out, const Axes &kernel,
            const ConvLayerOptions &options = {},
            Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvOptions options;

  SINTER_MODULE(ConvLayer, weight, bias, options)
};
extern template class ConvLayer<1>;
extern template class ConvLayer<2>;
using Conv1d = ConvLayer<1>;
using Conv2d = ConvLayer<2>;

/// `weight` [in, out / groups, kernel...] and `bias` [out], uniform in
/// +-1/sqrt(out / groups * elements of the kernel).
template <int spaces> class ConvTransposeLayer {
public:
  using Where = std::source_location;

  ConvTransposeLayer() = default;
  ConvTransposeLayer(int64_t in, int64_t out, const Axes &kernel,
                     const ConvTransposeLayerOptions &options = {},
                     Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvTransposeOptions options;

  SINTER_MODULE(ConvTransposeLayer, weight, bias, options)
};
extern template class ConvTransposeLayer<1>;
extern template class ConvTransposeLayer<2>;
using ConvTranspose1d = ConvTransposeLayer<1>;
using ConvTranspose2d = ConvTransposeLayer<2>;

} // namespace sinter::nn
