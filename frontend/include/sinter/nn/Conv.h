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
class Conv1d {
public:
  using Where = std::source_location;

  Conv1d() = default;
  Conv1d(int64_t in, int64_t out, const Axes &kernel,
         const ConvLayerOptions &options = {}, Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvOptions options;

  SINTER_MODULE(Conv1d, weight, bias, options)
};

class Conv2d {
public:
  using Where = std::source_location;

  Conv2d() = default;
  Conv2d(int64_t in, int64_t out, const Axes &kernel,
         const ConvLayerOptions &options = {}, Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvOptions options;

  SINTER_MODULE(Conv2d, weight, bias, options)
};

/// `weight` [in, out / groups, kernel...] and `bias` [out], uniform in
/// +-1/sqrt(out / groups * elements of the kernel).
class ConvTranspose1d {
public:
  using Where = std::source_location;

  ConvTranspose1d() = default;
  ConvTranspose1d(int64_t in, int64_t out, const Axes &kernel,
                  const ConvTransposeLayerOptions &options = {},
                  Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvTransposeOptions options;

  SINTER_MODULE(ConvTranspose1d, weight, bias, options)
};

class ConvTranspose2d {
public:
  using Where = std::source_location;

  ConvTranspose2d() = default;
  ConvTranspose2d(int64_t in, int64_t out, const Axes &kernel,
                  const ConvTransposeLayerOptions &options = {},
                  Where where = Where::current());

  Tensor forward(const Tensor &x) const;

  Param weight;
  Param bias; ///< empty without one
  ConvTransposeOptions options;

  SINTER_MODULE(ConvTranspose2d, weight, bias, options)
};

} // namespace sinter::nn
