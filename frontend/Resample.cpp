/// interpolate, grid_sample and affine_grid, in gathers and sums of products.
#include <sinter/Resample.h>

#include "frontend/Composed.h"
#include "frontend/Leaves.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Pooling.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Activations.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sinter {

using detail::asTensor;
using detail::Composed;

/// x with constant dims from axis 2 on.
static Tensor withKnownSpace(const Tensor &x) {
  return detail::withKnownLength(x, 2, size_t(x.rank() - 2));
}

//===- interpolate --------------------------------------------------------===//

namespace {

/// One axis' change of size.
struct Resize {
  int64_t from, to;
  double step; ///< how far apart results lie in the given space
};

/// For each element of the result, one that counts for it and by how much.
struct Tap {
  std::vector<int64_t> positions;
  std::vector<double> weights;
};

/// The factors of the four elements around a point, `t` after the second.
std::array<double, 4> cubicWeights(double t) {
  constexpr double a = -0.75;
  auto near = [](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  auto far = [](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

} // namespace

/// PyTorch rounds positions of `nearest` in f32.
static std::vector<Tap> nearestTaps(const Resize &resize, double offset) {
  Tap tap;
  auto step = static_cast<float>(resize.step);
  for (int64_t i = 0; i < resize.to; ++i) {
    float at = std::floor((float(i) + float(offset)) * step);
    tap.positions.push_back(std::min(int64_t(at), resize.from - 1));
  }
  return {tap};
}

/// The place of element i in the given space.
static double sourceOf(const Resize &resize, int64_t i, bool alignsCorners) {
  if (!alignsCorners)
    return resize.step * (double(i) + 0.5) - 0.5;
  return resize.to > 1
             ? double(i) * double(resize.from - 1) / double(resize.to - 1)
             : 0;
}

static std::vector<Tap> linearTaps(const Resize &resize, bool alignsCorners) {
  std::vector<Tap> taps(2);
  for (int64_t i = 0; i < resize.to; ++i) {
    double source = std::max(sourceOf(resize, i, alignsCorners), 0.0);
    int64_t below = std::min(int64_t(source), resize.from - 1);
    double share = std::clamp(source - double(below), 0.0, 1.0);
    taps[0].positions.push_back(below);
    taps[1].positions.push_back(std::min(below + 1, resize.from - 1));
    taps[0].weights.push_back(1 - share);
    taps[1].weights.push_back(share);
  }
  return taps;
}

static std::vector<Tap> cubicTaps(const Resize &resize, bool alignsCorners) {
  std::vector<Tap> taps(4);
  for (int64_t i = 0; i < resize.to; ++i) {
    double source = sourceOf(resize, i, alignsCorners);
    double below = std::floor(source);
    std::array<double, 4> weights = cubicWeights(source - below);
    for (int64_t k = 0; k < 4; ++k) {
      taps[k].positions.push_back(
          std::clamp<int64_t>(int64_t(below) + k - 1, 0, resize.from - 1));
      taps[k].weights.push_back(weights[k]);
    }
  }
  return taps;
}

static std::vector<Tap> tapsOf(const Resize &resize,
                               const InterpolateOptions &options) {
  switch (options.mode) {
  case Interpolation::linear:
    return linearTaps(resize, options.align_corners);
  case Interpolation::cubic:
    return cubicTaps(resize, options.align_corners);
  case Interpolation::nearest_exact:
    return nearestTaps(resize, 0.5);
  default:
    return nearestTaps(resize, 0);
  }
}

static Tensor resizeAxis(const Tensor &x, int64_t axis, const Resize &resize,
                         const InterpolateOptions &options) {
  if (resize.from == resize.to && resize.step == 1)
    return x;
  Dims along(x.rank(), Dim(1));
  along[axis] = Dim(resize.to);
  Tensor sum;
  for (const Tap &tap : tapsOf(resize, options)) {
    Tensor taken = index_select(
        x, detail::tableOf(tap.positions, {Dim(resize.to)}, {{}, x.device()}),
        axis);
    if (tap.weights.empty())
      return taken;
    taken =
        taken * detail::tableOf(tap.weights, along, {x.dtype(), x.device()});
    sum = sum.defined() ? sum + taken : taken;
  }
  return sum;
}

/// What happens to each spatial axis.
static std::vector<Resize> resizesOf(const Composed &call,
                                     const InterpolateOptions &options) {
  auto rank = size_t(call.x.rank() - 2);
  bool bySize = !options.size.isAll();
  size_t given = bySize ? options.size.size() : options.scale_factor.size();
  if (bySize != options.scale_factor.empty())
    call.fail("either a size or a scale factor is needed");
  if (given != 1 && given != rank)
    call.fail(fmt::format("{} entries for {} axes", given, rank));
  std::vector<Resize> resizes;
  for (size_t i = 0; i < rank; ++i) {
    size_t entry = given == 1 ? 0 : i;
    int64_t from = call.x.dim(int64_t(i) + 2).value;
    Resize resize{from, 0, 1};
    if (bySize) {
      resize.to = options.size.begin()[entry];
      resize.step = double(from) / double(resize.to);
    } else {
      double factor = options.scale_factor[entry];
      resize.to = int64_t(std::floor(double(from) * factor));
      resize.step = 1 / factor;
    }
    if (from < 1 || resize.to < 1)
      call.fail(
          fmt::format("axis {} cannot have {} elements", i + 2, resize.to));
    resizes.push_back(resize);
  }
  return resizes;
}

Tensor interpolate(const Arg &x, const InterpolateOptions &options) try {
  Composed call("interpolate", x);
  if (call.x.rank() < 3 || !isFloat(call.x.dtype()))
    call.fail("the operand must be images [n, c, space...] of floats");
  std::vector<Resize> resizes = resizesOf(call, options);
  if (options.mode == Interpolation::area) {
    std::vector<int64_t> size;
    for (const Resize &resize : resizes)
      size.push_back(resize.to);
    return adaptive_avg_pool(call.x, size);
  }
  // f16 and bf16 are summed in f32 and rounded once.
  DType dtype = call.x.dtype(),
        wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  Tensor image = withKnownSpace(call.x).to(wide);
  for (size_t i = 0; i < resizes.size(); ++i)
    image = resizeAxis(image, int64_t(i) + 2, resizes[i], options);
  return image.to(dtype);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- grid_sample --------------------------------------------------------===//

namespace {

/// One axis of an image that is sampled.
struct SampledAxis {
  int64_t size;
  GridPadding padding;
  bool alignsCorners;

  /// Where a place in [-1, 1] lies among the elements.
  Tensor scaled(const Tensor &place) const {
    double extent = double(size);
    return alignsCorners ? (place + 1) * ((extent - 1) / 2)
                         : (place + 1) * (extent / 2) - 0.5;
  }
  /// A position brought inside, unless zeros stand outside.
  Tensor inside(const Tensor &position) const;
  /// The element at a position of a whole number.
  Tensor index(const Tensor &position) const {
    return clamp(position, 0, double(size - 1)).to(DType::i64);
  }
  /// Whether there is one.
  Tensor holds(const Tensor &position) const {
    return (position >= 0) * (position <= double(size - 1));
  }
};

/// A tap of each sampled point along one axis.
struct PointTap {
  Tensor position, weight;
};

/// A call of grid_sample: the image with its space as one axis.
struct Sampled {
  Tensor flat;
  SampledAxis rows, columns;

  /// The elements at two positions each, 0 where they are outside.
  Tensor at(const Tensor &row, const Tensor &column) const;
};

} // namespace

Tensor SampledAxis::inside(const Tensor &position) const {
  if (padding == GridPadding::zeros)
    return position;
  double last = double(size - 1);
  Tensor moved = position;
  if (padding == GridPadding::reflection) {
    double low = alignsCorners ? 0 : -0.5, span = alignsCorners ? last : size;
    if (span == 0)
      return zeros_like(position);
    Tensor distance = abs(position - low);
    Tensor turns = floor(distance / span).detach();
    Tensor rest = distance - turns * span;
    Tensor isForward = remainder(turns, 2.0) == 0;
    moved = sinter::where(isForward, rest, span - rest) + low;
  }
  // No gradient at the border, as in PyTorch.
  return last > 0 ? hardtanh(moved, 0, last) : zeros_like(moved);
}

Tensor Sampled::at(const Tensor &row, const Tensor &column) const {
  Tensor y = rows.inside(row), x = columns.inside(column);
  Tensor place = rows.index(y) * columns.size + columns.index(x);
  Dims shape = place.shape();
  shape[1] = flat.dim(1);
  Tensor values = gather(flat, broadcast(place, shape), 2);
  if (rows.padding != GridPadding::zeros)
    return values;
  return values * (rows.holds(y) * columns.holds(x)).to(flat.dtype());
}

static std::vector<PointTap> linearPoints(const Tensor &position) {
  Tensor below = floor(position).detach(), share = position - below;
  return {{below, 1 - share}, {below + 1, share}};
}

static std::vector<PointTap> cubicPoints(const Tensor &position) {
  constexpr double a = -0.75;
  Tensor below = floor(position).detach(), t = position - below;
  auto near = [](const Tensor &d) {
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  };
  auto far = [](const Tensor &d) {
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  };
  return {{below - 1, far(t + 1)},
          {below, near(t)},
          {below + 1, near(1 - t)},
          {below + 2, far(2 - t)}};
}

static Tensor sumOfTaps(const Sampled &image, const std::vector<PointTap> &rows,
                        const std::vector<PointTap> &columns) {
  Tensor sum;
  for (const PointTap &row : rows)
    for (const PointTap &column : columns) {
      Tensor part = image.at(row.position, column.position) *
                    (row.weight * column.weight);
      sum = sum.defined() ? sum + part : part;
    }
  return sum;
}

static Tensor sample(const Sampled &image, const Tensor &row,
                     const Tensor &column, Interpolation mode) {
  if (mode == Interpolation::cubic)
    return sumOfTaps(image, cubicPoints(row), cubicPoints(column));
  Tensor y = image.rows.inside(row), x = image.columns.inside(column);
  if (mode == Interpolation::linear)
    return sumOfTaps(image, linearPoints(y), linearPoints(x));
  return image.at(round(y).detach(), round(x).detach());
}

Tensor grid_sample(const Arg &x, const Arg &grid,
                   const GridSampleOptions &options) try {
  Composed call("grid_sample", x);
  Tensor places = asTensor(grid);
  if (call.x.rank() != 4 || places.rank() != 4 || places.dim(3).value != 2 ||
      places.dim(0).value != call.x.dim(0).value || !isFloat(call.x.dtype()) ||
      places.dtype() != call.x.dtype())
    call.fail("expects floats [n, c, h, w] and a grid [n, h', w', 2] of the "
              "same dtype");
  if (options.mode == Interpolation::area ||
      options.mode == Interpolation::nearest_exact)
    call.fail("the mode must be nearest, linear or cubic");
  DType dtype = call.x.dtype(),
        wide = dtype == DType::f64 ? DType::f64 : DType::f32;
  Tensor image = withKnownSpace(call.x).to(wide);
  int64_t height = image.dim(2).value, width = image.dim(3).value;
  if (height < 1 || width < 1)
    call.fail("the image is empty");
  Dim count = places.dim(1) * places.dim(2);
  Tensor points = reshape(places.to(wide), {places.dim(0), 1, count, 2});
  Sampled sampled{
      reshape(image, {image.dim(0), image.dim(1), Dim(height * width)}),
      {height, options.padding, options.align_corners},
      {width, options.padding, options.align_corners}};
  Tensor result =
      sample(sampled, sampled.rows.scaled(select(points, 3, 1)),
             sampled.columns.scaled(select(points, 3, 0)), options.mode);
  return reshape(result,
                 {image.dim(0), image.dim(1), places.dim(1), places.dim(2)})
      .to(dtype);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- affine_grid --------------------------------------------------------===//

/// The places of a row of elements in [-1, 1].
static Tensor placesAlong(Dim size, bool alignsCorners, Options options) {
  int64_t count = size.value;
  if (count == 1)
    return zeros({1}, options);
  double end = alignsCorners ? 1 : 1 - 1 / double(count);
  return linspace(-end, end, count, options);
}

Tensor affine_grid(const Arg &theta, const Dims &size, bool align_corners) try {
  Composed call("affine_grid", theta);
  int64_t axes = int64_t(size.size()) - 2;
  if (axes < 1 || call.x.rank() != 3 || call.x.dim(1).value != axes ||
      call.x.dim(2).value != axes + 1 || !isFloat(call.x.dtype()) ||
      size[0].value != call.x.dim(0).value)
    call.fail("expects maps [n, d, d + 1] for a size [n, c, space...] of d "
              "axes");
  // Rows (along the last axis, ..., along the first one, 1).
  Options options{call.x.dtype(), call.x.device()};
  Dims space(size.begin() + 2, size.end());
  std::vector<Tensor> parts;
  for (int64_t axis = axes; axis-- > 0;) {
    Dims along(axes, Dim(1));
    along[axis] = space[axis];
    parts.push_back(broadcast(
        reshape(placesAlong(space[axis], align_corners, options), along),
        space));
  }
  parts.push_back(ones(space, options));
  Tensor base =
      reshape(stack(std::span<const Tensor>(parts), axes), {1, -1, axes + 1});
  Dims shape = space;
  shape.insert(shape.begin(), call.x.dim(0));
  shape.push_back(Dim(axes));
  return reshape(matmul(base, swapaxes(call.x, 1, 2)), shape);
} catch (...) {
  detail::raiseExhausted(theta.where);
}

} // namespace sinter
