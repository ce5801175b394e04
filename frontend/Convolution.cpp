/// Convolutions over the graph's conv and conv_transpose.
#include <sinter/Convolution.h>

#include "frontend/FixedDims.h"
#include "frontend/Raise.h"
#include "frontend/WindowLists.h"
#include "runtime/graph/OpIds.h"

namespace sinter {

using detail::ImageCall;
using detail::IntList;
using detail::Recorder;
using graph::NodeRef;

static IntList sizesOf(const NodeRef &weight, size_t rank) {
  IntList sizes;
  for (size_t i = 2; i < weight->rank() && i < rank + 2; ++i)
    sizes.push_back(weight->dims()[i].value);
  return sizes;
}

/// Makes numbers of what kernels know, the image's channels and the weight's
/// sizes, and gives the weight.
static NodeRef withSizes(ImageCall &call, const NodeRef &weight) {
  auto fix = [&](const NodeRef &node, size_t axis, size_t count) {
    auto fixed = detail::withNumbers(node, axis, count);
    if (!fixed)
      call.recorder.fail(fixed.takeError());
    return std::move(*fixed);
  };
  if (call.channelAxis() < call.image->rank())
    call.image = fix(call.image, call.channelAxis(), 1);
  return fix(weight, 0, weight->rank());
}

/// y + bias along the channels.
static Tensor withBias(const Tensor &y, const Arg &bias, size_t rank,
                       Layout layout) {
  detail::SourceScope scope(bias.where);
  if (layout == Layout::channels_last)
    return add(Arg(y, bias.where), bias);
  Dims column{-1};
  column.resize(rank + 1, 1);
  Tensor shaped = reshape(bias, column);
  return add(Arg(y, bias.where), Arg(shaped, bias.where));
}

//===- Convolutions -------------------------------------------------------===//

static Tensor convolve(size_t rank, const Arg &x, const Arg &weight,
                       const ConvOptions &options) {
  Recorder recorder(graph::OpId::conv, x);
  auto nodes =
      recorder.operands(detail::Promotion::match, 0b11, false, x, weight);
  ImageCall call(recorder, nodes[0], rank, options.layout);
  NodeRef sized = withSizes(call, nodes[1]);
  IntList sizes = sizesOf(sized, rank);
  IntList strides = call.list(options.stride, "stride", 1);
  IntList dilations = call.list(options.dilation, "dilation", 1);
  IntList low = call.list(options.padding, "padding", 0), high = low;
  for (size_t i = 0; options.same && i < sizes.size(); ++i) {
    int64_t total = (sizes[i] - 1) * dilations[i];
    low[i] = total / 2;
    high[i] = total - low[i];
  }
  return call.result(graph::conv(call.image, sized, sizes, strides, low, high,
                                 dilations, options.groups, options.layout));
}

static Tensor convolve(size_t rank, const Arg &x, const Arg &weight,
                       const Arg &bias, const ConvOptions &options) {
  Tensor y = convolve(rank, x, weight, options);
  return withBias(y, bias, rank, options.layout);
}

Tensor conv1d(const Arg &x, const Arg &weight, const ConvOptions &options) try {
  return convolve(1, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv2d(const Arg &x, const Arg &weight, const ConvOptions &options) try {
  return convolve(2, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv3d(const Arg &x, const Arg &weight, const ConvOptions &options) try {
  return convolve(3, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv1d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options) try {
  return convolve(1, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv2d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options) try {
  return convolve(2, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv3d(const Arg &x, const Arg &weight, const Arg &bias,
              const ConvOptions &options) try {
  return convolve(3, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Transposed convolutions --------------------------------------------===//

static Tensor convolveTransposed(size_t rank, const Arg &x, const Arg &weight,
                                 const ConvTransposeOptions &options) {
  Recorder recorder(graph::OpId::conv_transpose, x);
  auto nodes =
      recorder.operands(detail::Promotion::match, 0b11, false, x, weight);
  ImageCall call(recorder, nodes[0], rank, options.layout);
  NodeRef sized = withSizes(call, nodes[1]);
  IntList sizes = sizesOf(sized, rank);
  IntList strides = call.list(options.stride, "stride", 1);
  IntList dilations = call.list(options.dilation, "dilation", 1);
  IntList padding = call.list(options.padding, "padding", 0);
  IntList more = call.list(options.output_padding, "output_padding", 0);
  SmallVector<Dim, 6> space;
  bool fits = sizes.size() == rank && call.image->rank() == rank + 2;
  for (size_t i = 0; fits && i < rank; ++i) {
    Dim positions = call.image->dims()[call.firstAxis() + i];
    space.push_back(
        (positions - Dim(1)) * Dim(strides[i]) +
        Dim((sizes[i] - 1) * dilations[i] + 1 + more[i] - 2 * padding[i]));
    if (more[i] < 0 || (more[i] >= strides[i] && more[i] >= dilations[i]))
      recorder.fail("output_padding must be less than the stride or the "
                    "dilation",
                    {&call.image, 1});
  }
  return call.result(
      graph::conv_transpose(call.image, sized, sizes, strides, padding, padding,
                            dilations, options.groups, space, options.layout));
}

static Tensor convolveTransposed(size_t rank, const Arg &x, const Arg &weight,
                                 const Arg &bias,
                                 const ConvTransposeOptions &options) {
  Tensor y = convolveTransposed(rank, x, weight, options);
  return withBias(y, bias, rank, options.layout);
}

Tensor conv_transpose1d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(1, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv_transpose2d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(2, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv_transpose3d(const Arg &x, const Arg &weight,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(3, x, weight, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv_transpose1d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(1, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv_transpose2d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(2, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor conv_transpose3d(const Arg &x, const Arg &weight, const Arg &bias,
                        const ConvTransposeOptions &options) try {
  return convolveTransposed(3, x, weight, bias, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
