/// Pooling over the graph's max_pool and avg_pool.
#include <sinter/Pooling.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"
#include "frontend/UserCallback.h"
#include "frontend/WindowLists.h"
#include "runtime/graph/OpIds.h"

#include <sinter/Creation.h>
#include <sinter/CustomGradient.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter {

using detail::ImageCall;
using detail::IntList;
using detail::Recorder;

namespace {
/// The lists of one call.
struct Lists {
  IntList sizes, strides, low, high, dilations;
};
} // namespace

/// In ceil mode a last window may end after the padding, but starts before it.
static void padForCeiling(Lists &lists, std::span<const int64_t> space) {
  for (size_t i = 0; i < lists.sizes.size(); ++i) {
    int64_t reach = (lists.sizes[i] - 1) * lists.dilations[i] + 1;
    int64_t stride = std::max<int64_t>(lists.strides[i], 1);
    int64_t left = space[i] + lists.low[i] + lists.high[i] - reach;
    int64_t last = left < 0 ? 0 : (left + stride - 1) / stride * stride;
    if (last >= space[i] + lists.low[i])
      last -= stride;
    lists.high[i] =
        std::max(lists.high[i], last + reach - space[i] - lists.low[i]);
  }
}

template <typename Options>
static Lists listsOf(ImageCall &call, const Axes &kernel,
                     const Options &options) {
  Lists lists;
  lists.sizes = call.list(kernel, "the kernel", 1);
  lists.strides = call.list(options.stride, "stride", 1);
  if (options.stride.isAll())
    lists.strides = lists.sizes;
  lists.low = lists.high = call.list(options.padding, "padding", 0);
  lists.dilations = IntList(call.rank, 1);
  return lists;
}

//===- max_pool -----------------------------------------------------------===//

static Lists maxLists(ImageCall &call, const Axes &kernel,
                      const PoolOptions &options) {
  Lists lists = listsOf(call, kernel, options);
  lists.dilations = call.list(options.dilation, "dilation", 1);
  if (options.ceil_mode)
    padForCeiling(lists, call.fixSpace());
  return lists;
}

static Tensor maxPool(size_t rank, const Arg &x, const Axes &kernel,
                      const PoolOptions &options) {
  Recorder recorder(graph::OpId::max_pool, x);
  auto nodes = recorder.operands(detail::Promotion::match, 1, false, x);
  ImageCall call(recorder, nodes[0], rank, options.layout);
  Lists lists = maxLists(call, kernel, options);
  return call.result(graph::max_pool(call.image, lists.sizes, lists.strides,
                                     lists.low, lists.high, lists.dilations,
                                     options.layout));
}

Tensor max_pool1d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options) try {
  return maxPool(1, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor max_pool2d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options) try {
  return maxPool(2, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor max_pool3d(const Arg &x, const Axes &kernel,
                  const PoolOptions &options) try {
  return maxPool(3, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// A number of rank 0 that is part of the program.
static Tensor constant(const Tensor &like, double value) {
  return full({}, value, {like.dtype(), like.device()});
}

/// The whole part of x / number for integers that are not negative.
static Tensor quotient(const Tensor &x, int64_t number) {
  Recorder recorder(graph::OpId::div, SourceLine());
  auto divisor =
      graph::full(x.node()->dims(), Number(number), x.dtype(), x.device());
  if (!divisor)
    recorder.fail(divisor.takeError());
  return recorder.result(graph::div(x.node(), *divisor));
}

/// Where the element that `chosen` counts in its window stands in the space.
static Tensor placesOf(const Tensor &chosen, const Lists &lists,
                       std::span<const int64_t> space, size_t firstAxis) {
  Tensor rest = chosen, places;
  int64_t scale = 1;
  for (size_t i = lists.sizes.size(); i-- > 0;) {
    Tensor outer = quotient(rest, lists.sizes[i]);
    Tensor inner = rest - outer * constant(rest, double(lists.sizes[i]));
    Tensor position = iota(chosen.shape(), int64_t(firstAxis + i),
                           {DType::i64, chosen.device()});
    Tensor place = position * constant(rest, double(lists.strides[i])) +
                   inner * constant(rest, double(lists.dilations[i])) -
                   constant(rest, double(lists.low[i]));
    place = place * constant(rest, double(scale));
    places = places.defined() ? places + place : place;
    scale *= space[i];
    rest = outer;
  }
  return places;
}

std::pair<Tensor, Tensor>
max_pool_with_indices(const Arg &x, const Axes &kernel,
                      const PoolOptions &options) try {
  detail::SourceScope scope(x.where);
  size_t rank = kernel.size();
  Recorder recorder(graph::OpId::max_pool, x);
  auto nodes = recorder.operands(detail::Promotion::match, 1, false, x);
  ImageCall call(recorder, nodes[0], rank, options.layout);
  IntList space = call.fixSpace();
  Lists lists = maxLists(call, kernel, options);
  Tensor values = call.result(
      graph::max_pool(call.image, lists.sizes, lists.strides, lists.low,
                      lists.high, lists.dilations, options.layout));
  Tensor image(call.image);
  std::vector<int64_t> low(image.rank(), 0), interior(image.rank(), 0), axes;
  Dims padded = image.shape();
  for (size_t i = 0; i < rank; ++i) {
    size_t axis = call.firstAxis() + i;
    axes.push_back(int64_t(axis));
    low[axis] = lists.low[i];
    padded[axis] = padded[axis] + Dim(lists.low[i] + lists.high[i]);
  }
  auto given = [](const IntList &list) {
    return Axes(std::span<const int64_t>(list));
  };
  Tensor windows = window(pad(image, low, padded, interior,
                              -std::numeric_limits<double>::infinity()),
                          axes, given(lists.sizes), given(lists.strides),
                          given(lists.dilations));
  Dims flat = windows.shape();
  flat.resize(flat.size() - rank);
  int64_t taps = 1;
  for (int64_t size : lists.sizes)
    taps *= size;
  flat.push_back(taps);
  Tensor chosen = argmax(reshape(windows, flat), -1);
  Tensor places = placesOf(chosen, lists, space, call.firstAxis());
  return {values, reshape(places, values.shape())};
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// Puts values at positions along an axis. Windows that overlap give the same
/// element several times, and each takes the gradient of its place.
static CustomFunction putBack(int64_t axis) {
  return custom_gradient(
      [axis](std::span<const Tensor> inputs) {
        return scatter(inputs[0], inputs[1], inputs[2], axis);
      },
      [axis](const CustomContext &context) {
        return std::vector{Tensor(), Tensor(),
                           gather(context.gradient, context.inputs[1], axis)};
      });
}

Tensor max_unpool(const Arg &x, const Arg &indices, const Dims &size) try {
  detail::SourceScope scope(x.where);
  Tensor values(x.node());
  Dims shape = values.shape();
  size_t lead = shape.size() - std::min(shape.size(), size.size());
  shape.resize(lead);
  Dims rows = shape, places = shape;
  Dim count(1), given(1);
  for (size_t axis = lead; axis < size_t(values.rank()); ++axis)
    given = given * values.dim(int64_t(axis));
  for (Dim dim : size) {
    count = count * dim;
    shape.push_back(dim);
  }
  rows.push_back(count);
  places.push_back(given);
  Tensor empty = zeros(rows, {values.dtype(), values.device()});
  CustomFunction put = putBack(int64_t(lead));
  Tensor result =
      put({empty, reshape(indices, places), reshape(values, places)});
  return reshape(detail::withOwnGradient(std::move(result)), shape);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- avg_pool -----------------------------------------------------------===//

static Tensor avgPool(size_t rank, const Arg &x, const Axes &kernel,
                      const AvgPoolOptions &options) {
  Recorder recorder(graph::OpId::avg_pool, x);
  auto nodes = recorder.operands(detail::Promotion::floating, 1, false, x);
  ImageCall call(recorder, nodes[0], rank, options.layout);
  Lists lists = listsOf(call, kernel, options);
  IntList counted = lists.low;
  if (!options.count_include_pad)
    counted = IntList(rank, 0);
  if (options.ceil_mode)
    padForCeiling(lists, call.fixSpace());
  return call.result(graph::avg_pool(
      call.image, lists.sizes, lists.strides, lists.low, lists.high,
      lists.dilations, counted, counted, options.divisor, options.layout));
}

Tensor avg_pool1d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options) try {
  return avgPool(1, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor avg_pool2d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options) try {
  return avgPool(2, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor avg_pool3d(const Arg &x, const Axes &kernel,
                  const AvgPoolOptions &options) try {
  return avgPool(3, x, kernel, options);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor lp_pool2d(const Arg &x, double p, const Axes &kernel,
                 const AvgPoolOptions &options) try {
  detail::SourceScope scope(x.where);
  Tensor values(x.node());
  AvgPoolOptions sums = options;
  sums.divisor = 1;
  if (p == 1)
    return avg_pool2d(values, kernel, sums);
  if (p == 2)
    return sqrt(avg_pool2d(square(values), kernel, sums));
  Tensor power = exp(log(values) * constant(values, p));
  if (p == 3)
    power = square(values) * values;
  Tensor total = avg_pool2d(power, kernel, sums);
  return exp(log(total) * constant(total, 1 / p));
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Adaptive pooling ---------------------------------------------------===//

/// Where window i of `count` begins along `extent` elements; it ends before
/// the next one's rounded-up beginning.
static Tensor firstOf(const Tensor &i, int64_t extent, int64_t count) {
  return quotient(i * constant(i, double(extent)), count);
}
static Tensor endOf(const Tensor &i, int64_t extent, int64_t count) {
  Tensor next = (i + 1) * constant(i, double(extent));
  return quotient(next + constant(i, double(count - 1)), count);
}

/// The mean along an axis by a product with a matrix of shares.
static Tensor averageAlong(const Tensor &open, int64_t axis, int64_t count) {
  Tensor x = detail::withKnownLength(open, axis);
  int64_t extent = x.dim(axis).value;
  Options whole{DType::i64, x.device()};
  Dims shape{extent, count};
  Tensor place = iota(shape, 0, whole), i = iota(shape, 1, whole);
  Tensor first = firstOf(i, extent, count), end = endOf(i, extent, count);
  Tensor inside = cast((place >= first) * (place < end), x.dtype());
  Tensor shares = inside / cast(end - first, x.dtype());
  std::vector<int64_t> order;
  for (int64_t other = 0; other < x.rank(); ++other)
    order.push_back(other);
  std::swap(order[axis], order.back());
  return transpose(matmul(transpose(x, order), shares), order);
}

/// The largest along an axis, of each window's elements; the last one stands
/// for those that a shorter window lacks.
static Tensor largestAlong(const Tensor &open, int64_t axis, int64_t count) {
  Tensor x = detail::withKnownLength(open, axis);
  int64_t extent = x.dim(axis).value, longest = (extent + count - 1) / count;
  longest = extent % count == 0 ? longest : longest + 1;
  Options whole{DType::i64, x.device()};
  Dims shape{count, longest};
  Tensor i = iota(shape, 0, whole);
  Tensor place = minimum(firstOf(i, extent, count) + iota(shape, 1, whole),
                         endOf(i, extent, count) - 1);
  Dims windows = x.shape();
  windows[axis] = Dim(count);
  windows.insert(windows.begin() + axis + 1, Dim(longest));
  Tensor taken = index_select(x, reshape(place, {-1}), axis);
  return amax(reshape(taken, windows), axis + 1);
}

template <typename Along, typename Uniform>
static Tensor adaptive(const Arg &x, const Axes &size, Layout layout,
                       graph::OpId op, Along along, Uniform uniform) {
  detail::SourceScope scope(x.where);
  Recorder recorder(op, x);
  auto nodes = recorder.operands(detail::Promotion::floating, 1, false, x);
  ImageCall call(recorder, nodes[0], size.size(), layout);
  IntList space = call.fixSpace();
  IntList counts{std::span<const int64_t>(size)}, kernel = space;
  bool isEven = true;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 1)
      recorder.fail("an adaptive size must be positive", {&call.image, 1});
    isEven &= space[i] % counts[i] == 0 && space[i] > 0;
    kernel[i] = space[i] / counts[i];
  }
  if (isEven)
    return call.result(uniform(call.image, kernel, layout));
  Tensor image(call.image);
  for (size_t i = 0; i < counts.size(); ++i)
    image = along(image, int64_t(call.firstAxis() + i), counts[i]);
  return call.result(image.node());
}

Tensor adaptive_avg_pool(const Arg &x, const Axes &size, Layout layout) try {
  return adaptive(
      x, size, layout, graph::OpId::avg_pool, averageAlong,
      [](const graph::NodeRef &image, const IntList &kernel, Layout given) {
        IntList zeros(kernel.size(), 0), ones(kernel.size(), 1);
        return graph::avg_pool(image, kernel, kernel, zeros, zeros, ones, zeros,
                               zeros, 0, given);
      });
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor adaptive_max_pool(const Arg &x, const Axes &size, Layout layout) try {
  return adaptive(
      x, size, layout, graph::OpId::max_pool, largestAlong,
      [](const graph::NodeRef &image, const IntList &kernel, Layout given) {
        IntList zeros(kernel.size(), 0), ones(kernel.size(), 1);
        return graph::max_pool(image, kernel, kernel, zeros, zeros, ones,
                               given);
      });
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
