/// Padding by modes, and functions of windows.
#include <sinter/Shaping.h>

#include "frontend/Lines.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::Composed;
using detail::lineAxis;

/// Numbers of elements are below this, so sums and products of two fit.
static constexpr int64_t sizeLimit = int64_t(1) << 31;

//===- pad ----------------------------------------------------------------===//

/// Without what negative padding takes away; the rest of it is not negative.
static Tensor cropped(const Composed &call, const Tensor &x, Padding &padding) {
  int64_t start = std::max<int64_t>(-padding.before, 0);
  int64_t gone = std::max<int64_t>(-padding.after, 0);
  if (start + gone > x.dim(padding.axis).value)
    call.fail(fmt::format("axis {} is shorter than what is taken away",
                          padding.axis));
  Tensor left = start + gone == 0
                    ? x
                    : narrow(x, padding.axis, start,
                             x.dim(padding.axis) - Dim(start + gone));
  padding.before = std::max<int64_t>(padding.before, 0);
  padding.after = std::max<int64_t>(padding.after, 0);
  return left;
}

static Tensor padConstant(const Tensor &x, const Padding &padding,
                          double value) {
  std::vector<int64_t> low(x.rank(), 0), interior(x.rank(), 0);
  Dims shape = x.shape();
  low[padding.axis] = padding.before;
  shape[padding.axis] =
      shape[padding.axis] + Dim(padding.before + padding.after);
  return pad(x, low, shape, interior, value);
}

/// What stands before the first element, in the order of the result, and what
/// stands after the last.
static Tensor border(const Composed &call, const Tensor &open, int64_t axis,
                     int64_t count, bool isBefore, PadMode mode) {
  Tensor x = detail::withKnownLength(open, axis);
  int64_t length = x.dim(axis).value;
  if (mode == PadMode::replicate) {
    if (length == 0)
      call.fail(fmt::format("axis {} is empty", axis));
    Dims wide = x.shape();
    wide[axis] = Dim(count);
    return broadcast(narrow(x, axis, isBefore ? 0 : length - 1, 1), wide);
  }
  // The border itself is not repeated by a mirror.
  int64_t skipped = mode == PadMode::reflect ? 1 : 0;
  if (count + skipped > length)
    call.fail(
        fmt::format("axis {} is too short for {} more elements", axis, count));
  if (mode == PadMode::circular)
    return narrow(x, axis, isBefore ? length - count : 0, count);
  return flip(narrow(x, axis, isBefore ? 1 : length - count - 1, count),
              {axis});
}

Tensor pad(const Arg &x, const std::vector<Padding> &paddings, PadMode mode,
           double value) try {
  Composed call("pad", x);
  if (mode == PadMode::constant)
    call.checkHeld(value);
  Tensor padded = call.x;
  for (Padding padding : paddings) {
    padding.axis = call.axis(padding.axis);
    if (std::max(padding.before, padding.after) >= sizeLimit ||
        std::min(padding.before, padding.after) <= -sizeLimit)
      call.fail(fmt::format("a padding of {} and {} elements is too large",
                            padding.before, padding.after));
    padded = cropped(call, padded, padding);
    if (mode == PadMode::constant) {
      padded = padConstant(padded, padding, value);
      continue;
    }
    std::vector<Tensor> parts;
    if (padding.before > 0)
      parts.push_back(
          border(call, padded, padding.axis, padding.before, true, mode));
    parts.push_back(padded);
    if (padding.after > 0)
      parts.push_back(
          border(call, padded, padding.axis, padding.after, false, mode));
    padded = concat(std::span<const Tensor>(parts), padding.axis);
  }
  return padded;
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Pixels and windows -------------------------------------------------===//

Tensor pixel_shuffle(const Arg &x, int64_t factor) try {
  Composed call("pixel_shuffle", x);
  if (factor < 1 || factor >= sizeLimit)
    call.fail(fmt::format("the factor is {}", factor));
  int64_t rank = call.x.rank(), square = factor * factor;
  if (rank < 3 || call.x.dim(-3).value % square != 0)
    call.fail(fmt::format("axis -3 must be a multiple of {}", square));
  Dim r(factor), channels = floorDiv(call.x.dim(-3), Dim(square));
  Dim height = call.x.dim(-2), width = call.x.dim(-1);
  Dims lead = call.x.shape();
  lead.resize(rank - 3);
  Dims apart = lead, joined = lead;
  apart.insert(apart.end(), {channels, r, r, height, width});
  joined.insert(joined.end(), {channels, height * r, width * r});
  // [c, r1, r2, h, w] as [c, h, r1, w, r2]
  std::vector<int64_t> order(rank + 2);
  for (int64_t i = 0; i < rank + 2; ++i)
    order[i] = i;
  int64_t c = rank - 3;
  std::ranges::copy(std::initializer_list<int64_t>{c + 3, c + 1, c + 4, c + 2},
                    order.begin() + c + 1);
  return reshape(transpose(reshape(call.x, apart), order), joined);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor pixel_unshuffle(const Arg &x, int64_t factor) try {
  Composed call("pixel_unshuffle", x);
  int64_t rank = call.x.rank();
  if (rank < 3 || factor < 1 || call.x.dim(-2).value % factor != 0 ||
      call.x.dim(-1).value % factor != 0)
    call.fail(fmt::format("the last two axes must be multiples of {}", factor));
  Dim r(factor), channels = call.x.dim(-3);
  Dim height = floorDiv(call.x.dim(-2), r), width = floorDiv(call.x.dim(-1), r);
  Dims lead = call.x.shape();
  lead.resize(rank - 3);
  Dims apart = lead, joined = lead;
  apart.insert(apart.end(), {channels, height, r, width, r});
  joined.insert(joined.end(), {channels * r * r, height, width});
  // [c, h, r1, w, r2] as [c, r1, r2, h, w]
  std::vector<int64_t> order(rank + 2);
  for (int64_t i = 0; i < rank + 2; ++i)
    order[i] = i;
  int64_t c = rank - 3;
  std::ranges::copy(std::initializer_list<int64_t>{c + 2, c + 4, c + 1, c + 3},
                    order.begin() + c + 1);
  return reshape(transpose(reshape(call.x, apart), order), joined);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor unfold(const Arg &x, int64_t axis, int64_t size, int64_t step) try {
  Composed call("unfold", x);
  int64_t at = lineAxis(call, axis);
  if (call.x.rank() == 0)
    return squeeze(unfold(reshape(call.x, {1}), at, size, step), 0);
  if (size < 1 || step < 1 || size > call.x.dim(at).value)
    call.fail(
        fmt::format("there is no window of {} elements, {} apart", size, step));
  return window(call.x, {at}, {size}, {step}, {1});
} catch (...) {
  detail::raiseExhausted(x.where);
}

namespace {
/// One list entry for each of an image's two axes.
struct Pair {
  int64_t values[2];
  int64_t operator[](size_t i) const { return values[i]; }
};
} // namespace

static Pair pairOf(const Composed &call, const Axes &list, const char *name,
                   int64_t least) {
  if (list.isAll() || list.size() < 1 || list.size() > 2)
    call.fail(fmt::format("{} must be one number or two", name));
  Pair pair{{list.begin()[0], list.begin()[list.size() - 1]}};
  if (pair[0] < least || pair[1] < least)
    call.fail(fmt::format("{} must be {} at least", name, least));
  if (pair[0] >= sizeLimit || pair[1] >= sizeLimit)
    call.fail(fmt::format("{} must be below {}", name, sizeLimit));
  return pair;
}

namespace {
/// The numbers of a call of im2col or col2im.
struct Patches {
  Patches(const Composed &call, const Axes &kernel, const PatchOptions &options)
      : kernel(pairOf(call, kernel, "the kernel", 1)),
        dilation(pairOf(call, options.dilation, "dilation", 1)),
        padding(pairOf(call, options.padding, "padding", 0)),
        stride(pairOf(call, options.stride, "stride", 1)) {}

  /// How many windows a padded axis has; below 1 for none.
  Dim positions(Dim size, size_t i) const {
    Dim free = size + Dim(2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1);
    return free.value < 0 ? Dim(0) : floorDiv(free, Dim(stride[i])) + Dim(1);
  }

  Pair kernel, dilation, padding, stride;
};
} // namespace

Tensor im2col(const Arg &x, const Axes &kernel,
              const PatchOptions &options) try {
  Composed call("im2col", x);
  Patches patches(call, kernel, options);
  if (call.x.rank() != 4)
    call.fail("the operand must be images [n, c, h, w]");
  const auto &[k, d, p, s] = patches;
  Dim down = patches.positions(call.x.dim(2), 0);
  Dim across = patches.positions(call.x.dim(3), 1);
  if (down.value < 1 || across.value < 1)
    call.fail("the kernel does not fit");
  Tensor image = sinter::pad(call.x, {{2, p[0], p[0]}, {3, p[1], p[1]}});
  // [n, c, down, across, k0, k1] as [n, c, k0, k1, down, across]
  Tensor windows =
      transpose(window(image, {2, 3}, {k[0], k[1]}, {s[0], s[1]}, {d[0], d[1]}),
                {0, 1, 4, 5, 2, 3});
  return reshape(windows, {call.x.dim(0), call.x.dim(1) * Dim(k[0] * k[1]),
                           down * across});
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor col2im(const Arg &columns, const Axes &size, const Axes &kernel,
              const PatchOptions &options) try {
  Composed call("col2im", columns);
  Patches patches(call, kernel, options);
  Pair image = pairOf(call, size, "size", 1);
  const auto &[k, d, p, s] = patches;
  Dim down = patches.positions(image[0], 0);
  Dim across = patches.positions(image[1], 1);
  int64_t area = k[0] * k[1];
  Dim positions = down * across;
  if (call.x.rank() != 3 || call.x.dim(1).value % area != 0 ||
      call.x.dim(2).value != positions.value)
    call.fail(fmt::format("the operand must be [n, c * {}, {}]", area,
                          positions.value));
  Dim channels = floorDiv(call.x.dim(1), Dim(area));
  Tensor windows =
      transpose(reshape(call.x, {call.x.dim(0), channels, Dim(k[0]), Dim(k[1]),
                                 down, across}),
                {0, 1, 4, 5, 2, 3});
  Dims padded{call.x.dim(0), channels, Dim(image[0] + 2 * p[0]),
              Dim(image[1] + 2 * p[1])};
  Tensor placed = unwindow(windows, padded, {2, 3}, {k[0], k[1]}, {s[0], s[1]},
                           {d[0], d[1]});
  Tensor summed = sum(placed, {4, 5});
  return slice(
      summed, {0, 0, p[0], p[1]},
      {padded[0], padded[1], Dim(p[0] + image[0]), Dim(p[1] + image[1])},
      {1, 1, 1, 1});
} catch (...) {
  detail::raiseExhausted(columns.where);
}

} // namespace sinter
