/// unfold and fold: an image's windows as columns, and back.
#include <sinter/Pooling.h>

#include "frontend/Raise.h"
#include "frontend/WindowLists.h"
#include "runtime/graph/OpIds.h"

namespace sinter {

using detail::ImageCall;
using detail::IntList;
using detail::Recorder;

static Axes axesFrom(size_t first, size_t count) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < count; ++i)
    axes.push_back(int64_t(first + i));
  return axes;
}

static Axes given(const IntList &list) {
  return Axes(std::span<const int64_t>(list));
}

/// [n, c, space...] with its padding.
static Dims paddedShape(Dims shape, std::span<const int64_t> padding) {
  for (size_t i = 0; i < padding.size(); ++i)
    shape[i + 2] = shape[i + 2] + Dim(2 * padding[i]);
  return shape;
}

Tensor unfold(const Arg &x, const Axes &kernel,
              const ConvOptions &options) try {
  detail::SourceScope scope(x.where);
  size_t rank = kernel.size();
  Recorder recorder(graph::OpId::window, x);
  auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
  ImageCall call(recorder, nodes[0], rank, Layout::channels_first);
  if (call.image->rank() != rank + 2)
    recorder.fail("expects an image [n, c, space...]", {&call.image, 1});
  IntList padding = call.list(options.padding, "padding", 0);
  Tensor image(call.image);
  std::vector<int64_t> low(2, 0), interior(rank + 2, 0), order{0, 1};
  low.insert(low.end(), padding.begin(), padding.end());
  Tensor windows = window(
      pad(image, low, paddedShape(image.shape(), padding), interior, 0),
      axesFrom(2, rank), kernel, given(call.list(options.stride, "stride", 1)),
      given(call.list(options.dilation, "dilation", 1)));
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(2 + rank + i));
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(2 + i));
  Dim rows = image.dim(1), positions(1);
  for (size_t i = 0; i < rank; ++i) {
    rows = rows * windows.dim(int64_t(2 + rank + i));
    positions = positions * windows.dim(int64_t(2 + i));
  }
  Tensor columns =
      reshape(transpose(windows, order), {image.dim(0), rows, positions});
  return call.result(columns.node());
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor fold(const Arg &x, const Dims &size, const Axes &kernel,
            const ConvOptions &options) try {
  detail::SourceScope scope(x.where);
  size_t rank = kernel.size();
  Recorder recorder(graph::OpId::unwindow, x);
  auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
  // Columns [n, c * sizes, positions] are an image of one axis here.
  ImageCall call(recorder, nodes[0], 1, Layout::channels_first);
  ImageCall lists(recorder, nodes[0], rank, Layout::channels_first);
  if (call.image->rank() != 3 || size.size() != rank || rank == 0)
    recorder.fail("expects columns [n, c * sizes, positions] and a size",
                  {&call.image, 1});
  IntList padding = lists.list(options.padding, "padding", 0);
  IntList strides = lists.list(options.stride, "stride", 1);
  IntList dilations = lists.list(options.dilation, "dilation", 1);
  Tensor columns(call.image);
  int64_t taps = 1;
  for (int64_t tap : kernel)
    taps *= tap;
  Dims image{columns.dim(0), floorDiv(columns.dim(1), Dim(taps))};
  image.insert(image.end(), size.begin(), size.end());
  Dims padded = paddedShape(image, padding),
       split(image.begin(), image.begin() + 2);
  split.insert(split.end(), kernel.begin(), kernel.end());
  std::vector<int64_t> order{0, 1}, starts(2, 0), steps(rank + 2, 1);
  for (size_t i = 0; i < rank; ++i) {
    Dim reach((kernel.begin()[i] - 1) * dilations[i] + 1);
    split.push_back(floorDiv(padded[i + 2] - reach, Dim(strides[i])) + Dim(1));
    order.push_back(int64_t(2 + rank + i));
  }
  for (size_t i = 0; i < rank; ++i)
    order.push_back(int64_t(2 + i));
  Tensor windows = transpose(reshape(columns, split), order);
  Tensor image2 = sum(unwindow(windows, padded, axesFrom(2, rank), kernel,
                               given(strides), given(dilations)),
                      axesFrom(2 + rank, rank));
  Dims limits = image;
  for (size_t i = 0; i < rank; ++i) {
    starts.push_back(padding[i]);
    limits[i + 2] = limits[i + 2] + Dim(padding[i]);
  }
  return call.result(slice(image2, starts, limits, steps).node());
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
