/// Convolution: convolutions of one, two and three axes, with PyTorch's
/// meaning of every attribute.
#pragma once

#include <sinter/BasicOps.h>

namespace sinter {

/// Lists have one entry for each axis, or one for all.
struct ConvOptions {
  Axes stride = 1;
  Axes padding = 0;
  Axes dilation = 1;
  int64_t groups = 1;
  /// Pads so that a stride of 1 keeps the space; `padding` is not read.
  bool same = false;
  Layout layout = Layout::channels_first;
};
struct ConvTransposeOptions {
  Axes stride = 1;
  Axes padding = 0;
  Axes output_padding = 0;
  Axes dilation = 1;
  int64_t groups = 1;
  Layout layout = Layout::channels_first;
};

/// x[n, c, space...] with weight[c out, c / groups, sizes...]; channels last
/// for that layout of x. Without n there is one image. A bias [c out] may
/// follow.
Tensor conv1d(const Arg &x, const Arg &weight, const ConvOptions &options = {});
Tensor conv2d(const Arg &x, const Arg &weight, const ConvOptions &options = {});
Tensor conv3d(const Arg &x, const Arg &weight, const ConvOptions &options = {});
Tensor conv1d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options = {});
Tensor conv2d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options = {});
Tensor conv3d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options = {});

/// x[n, c, space...] with weight[c, c out / groups, sizes...].
Tensor conv_transpose1d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options = {});
Tensor conv_transpose2d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options = {});
Tensor conv_transpose3d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options = {});
Tensor conv_transpose1d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options = {});
Tensor conv_transpose2d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options = {});
Tensor conv_transpose3d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options = {});

} // namespace sinter
