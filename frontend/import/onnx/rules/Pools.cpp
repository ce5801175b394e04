/// Pools.
#include "frontend/ElementwiseFunctions.h"
#include "frontend/import/onnx/rules/Recorded.h"
#include "frontend/import/onnx/rules/Windows.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sinter::onnx {

/// In ceil mode the last window may end after the padding, if it starts before
/// that of the end: more padding, which does not count.
static void reachToCeiling(Call &call, const Tensor &x, Windows &windows) {
  if (!call.flag("ceil_mode"))
    return;
  for (size_t i = 0; i < windows.rank(); ++i) {
    int64_t extent = fixed(x.dim(int64_t(i) + 2)), stride = windows.strides[i];
    int64_t room = extent + windows.low[i] + windows.high[i];
    int64_t left = room - windows.reach(i);
    int64_t last = left < 0 ? 0 : (left + stride - 1) / stride * stride;
    if (last >= extent + windows.low[i])
      last -= stride;
    windows.high[i] = std::max(windows.high[i], windows.high[i] + last +
                                                    windows.reach(i) - room);
  }
}

static std::vector<int64_t> kernelShape(Call &call) {
  return call.integers("kernel_shape");
}

//===- Largest ------------------------------------------------------------===//

static Tensor maxPooled(const Tensor &x, const Windows &windows) {
  return recorded(graph::OpId::max_pool,
                  graph::max_pool(nodeOf(x), windows.sizes, windows.strides,
                                  windows.low, windows.high, windows.dilations,
                                  Layout::channels_first));
}

/// Steps through the taps of a window, the last axis first; false at the end.
static bool nextTap(std::vector<int64_t> &tap, const Windows &windows) {
  for (size_t i = tap.size(); i-- > 0;) {
    if (++tap[i] < windows.sizes[i])
      return true;
    tap[i] = 0;
  }
  return false;
}

/// Where the largest element of each window is in its padded image, of windows
/// whose elements stand apart: one tap after the other.
static Tensor dilatedPositions(Call &call, const Tensor &wide,
                               const Windows &windows) {
  std::vector<int64_t> extents = numbersOf(wide), tap(windows.rank(), 0);
  int64_t taps = std::accumulate(windows.sizes.begin(), windows.sizes.end(),
                                 int64_t(1), std::multiplies<>());
  if (taps < 1 || taps > 1024)
    call.unsupported("positions of dilated windows of so many elements");
  Tensor best, offset;
  do {
    Tensor part = wide;
    int64_t moved = 0;
    for (size_t i = 0; i < windows.rank(); ++i) {
      int64_t start = tap[i] * windows.dilations[i], extent = extents[i + 2];
      int64_t count = (extent - windows.reach(i)) / windows.strides[i];
      part =
          sliceAxis(part, int64_t(i) + 2, start,
                    start + count * windows.strides[i] + 1, windows.strides[i]);
      moved = moved * extent + start;
    }
    if (!best.defined()) {
      best = part;
      offset = zeros(part.shape(), {DType::i64, wide.device()});
      continue;
    }
    offset = where(part > best, moved, offset);
    best = maximum(best, part);
  } while (nextTap(tap, windows));
  int64_t scale = 1;
  for (size_t i = windows.rank(); i-- > 0;) {
    Tensor place =
        iota(best.shape(), int64_t(i) + 2, {DType::i64, wide.device()});
    offset = offset + place * (windows.strides[i] * scale);
    scale *= extents[i + 2];
  }
  return offset;
}

static bool isDilated(const Windows &windows) {
  return std::ranges::any_of(windows.dilations,
                             [](int64_t each) { return each != 1; });
}

static Tensor paddedPositions(Call &call, const Tensor &wide,
                              const Windows &windows) {
  if (isDilated(windows))
    return dilatedPositions(call, wide, windows);
  PoolOptions options;
  options.stride = windows.strides;
  return max_pool_with_indices(wide, Axes(windows.sizes), options).second;
}

/// The positions of the largest elements in the whole tensor. The space is
/// padded first, where positions count, too; they are taken apart and put
/// together again without it.
static Tensor maxPositions(Call &call, const Tensor &x,
                           const Windows &windows) {
  std::vector<Padding> paddings;
  std::vector<int64_t> dims = numbersOf(x), padded = dims;
  for (size_t i = 0; i < windows.rank(); ++i) {
    paddings.push_back({int64_t(i) + 2, windows.low[i], windows.high[i]});
    padded[i + 2] += windows.low[i] + windows.high[i];
  }
  Tensor wide = pad(x, paddings, PadMode::constant,
                    -std::numeric_limits<double>::infinity());
  Tensor rest = paddedPositions(call, wide, windows);
  bool isColumnMajor = call.flag("storage_order");
  Tensor result = zeros_like(rest);
  size_t rank = windows.rank();
  for (size_t i = rank; i-- > 0;) {
    int64_t extent = padded[i + 2], scale = 1;
    // Where nothing is larger than the padding, it is the nearest element.
    Tensor at = clamp(remainder(rest, extent) - windows.low[i], 0,
                      std::max<int64_t>(dims[i + 2] - 1, 0));
    rest = floor_divide(rest, extent);
    for (size_t j = 0; j < rank; ++j)
      if (isColumnMajor ? j < i : j > i)
        scale *= dims[j + 2];
    result = result + at * scale;
  }
  int64_t space = std::accumulate(dims.begin() + 2, dims.end(), int64_t(1),
                                  std::multiplies<>());
  Options index{DType::i64, x.device()};
  Tensor image =
      iota(rest.shape(), 0, index) * dims[1] + iota(rest.shape(), 1, index);
  return result + image * space;
}

static void maxPoolRule(Call &call) {
  Tensor x = call.tensor(0);
  DType dtype = x.dtype();
  x = asFloat(x);
  Windows windows = windowsOf(call, x, kernelShape(call));
  reachToCeiling(call, x, windows);
  call.give(maxPooled(x, windows).to(dtype));
  if (call.wants(1))
    call.give(1, maxPositions(call, x, windows));
}

static void maxUnpoolRule(Call &call) {
  Tensor x = call.tensor(0), positions = call.tensor(1);
  Windows windows = windowsOf(call, x, kernelShape(call));
  std::vector<int64_t> dims = numbersOf(x);
  for (size_t i = 0; i < windows.rank(); ++i)
    dims[i + 2] = (dims[i + 2] - 1) * windows.strides[i] + windows.sizes[i] -
                  windows.low[i] - windows.high[i];
  // With a shape of the result, positions are still of the other one.
  int64_t count = std::accumulate(dims.begin(), dims.end(), int64_t(1),
                                  std::multiplies<>());
  Tensor flat = zeros({Dim(count)}, {x.dtype(), x.device()});
  Tensor put = scatter(flat, reshape(positions, {-1}), reshape(x, {-1}), 0);
  Tensor y = reshape(put, Dims(dims.begin(), dims.end()));
  if (call.has(2)) {
    std::vector<int64_t> wanted = call.integers(2, "output_shape");
    std::vector<Padding> paddings;
    if (wanted.size() != dims.size())
      call.invalid("output_shape has another rank");
    for (size_t i = 0; i < dims.size(); ++i)
      paddings.push_back({int64_t(i), 0, wanted[i] - dims[i]});
    y = pad(y, paddings);
  }
  call.give(y);
}

//===- Means and norms ----------------------------------------------------===//

static Tensor averaged(const Tensor &x, const Windows &windows,
                       const std::vector<int64_t> &low,
                       const std::vector<int64_t> &high, double divisor) {
  return recorded(graph::OpId::avg_pool,
                  graph::avg_pool(nodeOf(x), windows.sizes, windows.strides,
                                  windows.low, windows.high, windows.dilations,
                                  low, high, divisor, Layout::channels_first));
}

/// The sum of each window by a convolution with ones, for windows whose
/// elements stand apart.
static Tensor dilatedSums(const Tensor &x, const Windows &windows) {
  int64_t channels = fixed(x.dim(1));
  Dims shape{channels, 1};
  for (int64_t size : windows.sizes)
    shape.emplace_back(size);
  Tensor weight = ones(shape, {x.dtype(), x.device()});
  return recorded(graph::OpId::conv,
                  graph::conv(nodeOf(x), nodeOf(weight), windows.sizes,
                              windows.strides, windows.low, windows.high,
                              windows.dilations, channels,
                              Layout::channels_first));
}

/// How many elements of each window along one axis count: those of the image
/// and of as much padding as is given.
static std::vector<double> countsAlong(const Windows &windows, size_t axis,
                                       int64_t extent, int64_t results,
                                       int64_t low, int64_t high) {
  std::vector<double> counts;
  for (int64_t i = 0; i < results; ++i) {
    int64_t base = i * windows.strides[axis] - windows.low[axis];
    // The first element of the window at or after a place.
    auto firstFrom = [&](int64_t place) {
      int64_t distance = place - base, step = windows.dilations[axis];
      int64_t steps = distance > 0 ? (distance + step - 1) / step : int64_t(0);
      return std::min(steps, windows.sizes[axis]);
    };
    counts.push_back(double(firstFrom(extent + high) - firstFrom(-low)));
  }
  return counts;
}

static Tensor dilatedMeans(const Tensor &x, const Windows &windows,
                           const std::vector<int64_t> &low,
                           const std::vector<int64_t> &high) {
  Tensor y = dilatedSums(x, windows);
  for (size_t i = 0; i < windows.rank(); ++i) {
    auto axis = int64_t(i) + 2;
    int64_t results = fixed(y.dim(axis));
    std::vector<double> counts =
        countsAlong(windows, i, fixed(x.dim(axis)), results, low[i], high[i]);
    Tensor divisor = hostReals(counts, {results}, x.dtype(), x.device());
    y = y / alongAxis(divisor, axis, y.rank());
  }
  return y;
}

Tensor averagePooled(Call &call, const Tensor &x) {
  Windows windows = windowsOf(call, x, kernelShape(call));
  std::vector<int64_t> none(windows.rank(), 0), low = none, high = none;
  if (call.flag("count_include_pad")) {
    low = windows.low;
    high = windows.high;
  }
  reachToCeiling(call, x, windows);
  return isDilated(windows) ? dilatedMeans(x, windows, low, high)
                            : averaged(x, windows, low, high, 0);
}

static void averagePoolRule(Call &call) {
  call.give(averagePooled(call, call.tensor(0)));
}

/// The p-norm of each window: the power of a sum.
static void lpPoolRule(Call &call) {
  Tensor x = call.tensor(0);
  double p = double(call.integer("p"));
  Windows windows = windowsOf(call, x, kernelShape(call));
  reachToCeiling(call, x, windows);
  std::vector<int64_t> none(windows.rank(), 0);
  Tensor powers = pow(abs(x), p);
  Tensor sums = isDilated(windows) ? dilatedSums(powers, windows)
                                   : averaged(powers, windows, none, none, 1);
  call.give(pow(sums, 1 / p));
}

/// Every axis after the second.
static Axes spaceOf(Call &call, const Tensor &x) {
  std::vector<int64_t> axes;
  for (int64_t i = 2; i < x.rank(); ++i)
    axes.push_back(i);
  if (axes.empty())
    call.invalid("the tensor has no space");
  return axes;
}
static void globalAverageRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(mean(x, spaceOf(call, x), true));
}
static void globalMaxRule(Call &call) {
  Tensor x = call.tensor(0);
  call.give(amax(x, spaceOf(call, x), true));
}
static void globalLpRule(Call &call) {
  Tensor x = call.tensor(0);
  double p = double(call.integer("p"));
  call.give(pow(sum(pow(abs(x), p), spaceOf(call, x), true), 1 / p));
}

static constexpr const char *average =
    "auto_pad:string=NOTSET ceil_mode:int=0 count_include_pad:int=0 "
    "dilations:ints kernel_shape:ints! pads:ints strides:ints";

static constexpr Operator rows[] = {
    {"MaxPool", 1, 0,
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape:ints! "
     "pads:ints storage_order:int=0 strides:ints",
     maxPoolRule},
    {"MaxUnpool", 9, 0,
     "auto_pad:string=NOTSET dilations:ints kernel_shape:ints! pads:ints "
     "strides:ints",
     maxUnpoolRule},
    {"AveragePool", 1, 0, average, averagePoolRule},
    {"LpPool", 2, 0,
     "auto_pad:string=NOTSET ceil_mode:int=0 dilations:ints kernel_shape:ints! "
     "p:int=2 pads:ints strides:ints",
     lpPoolRule},
    {"GlobalAveragePool", 1, 0, "", globalAverageRule},
    {"GlobalMaxPool", 1, 0, "", globalMaxRule},
    {"GlobalLpPool", 2, 0, "p:int=2", globalLpRule},
};

std::span<const Operator> poolingRows() { return rows; }

} // namespace sinter::onnx
