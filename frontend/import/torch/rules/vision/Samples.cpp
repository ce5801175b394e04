/// Padding, and images at other sizes and places.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/Resample.h>

#include <algorithm>
#include <cmath>

namespace sinter::torch {

//===- Padding ------------------------------------------------------------===//

/// Two numbers for each axis, those of the last axis first.
static std::vector<Padding> paddingsOf(Call &call, const Tensor &x,
                                       const char *name) {
  std::vector<int64_t> numbers = call.integers(name);
  if (numbers.size() % 2 || int64_t(numbers.size()) > 2 * x.rank())
    call.invalid(std::to_string(numbers.size()) +
                 " paddings of a tensor of rank " + std::to_string(x.rank()));
  std::vector<Padding> paddings;
  for (size_t i = 0; i < numbers.size(); i += 2)
    if (numbers[i] != 0 || numbers[i + 1] != 0)
      paddings.push_back(
          {x.rank() - 1 - int64_t(i / 2), numbers[i], numbers[i + 1]});
  return paddings;
}

/// The nearest element of x for each place, of paddings that take away so much
/// that nothing is left before the rest is added.
static Tensor replicated(Call &call, const Tensor &x,
                         const std::vector<Padding> &paddings) {
  Tensor y = x;
  for (const Padding &each : paddings) {
    int64_t size = fixed(y.dim(each.axis));
    if (each.before < -mostOfTable || each.before > mostOfTable ||
        each.after < -mostOfTable || each.after > mostOfTable)
      call.unsupported("so large a padding");
    requireFew(call, size, "elements along an axis");
    std::vector<int64_t> places;
    for (int64_t i = -each.before; i < size + each.after; ++i)
      places.push_back(std::clamp<int64_t>(i, 0, size - 1));
    auto count = int64_t(places.size());
    y = index_select(y, tensor(places, {count}, {DType::i64, x.device()}),
                     each.axis);
  }
  return y;
}

static void givePadded(Call &call, const char *name, PadMode mode,
                       double value) {
  Tensor x = call.tensor("self");
  std::vector<Padding> paddings = paddingsOf(call, x, name);
  bool isBool = x.dtype() == DType::boolean;
  Tensor numbers = isBool ? x.to(DType::u8) : x;
  bool takesAway = std::ranges::any_of(paddings, [](const Padding &each) {
    return std::min(each.before, each.after) < 0;
  });
  bool isNearest = mode == PadMode::replicate && takesAway;
  call.give((isNearest ? replicated(call, numbers, paddings)
                       : pad(numbers, paddings, mode, value))
                .to(x.dtype()));
}

static double fillOf(Call &call) {
  return call.has("value") ? numberOf(call, call.value("value")).asReal() : 0;
}

static void constantPadRule(Call &call) {
  givePadded(call, "pad", PadMode::constant, fillOf(call));
}
template <PadMode mode> static void edgePadRule(Call &call) {
  givePadded(call, "padding", mode, 0);
}

/// F.pad as it was called.
static void padRule(Call &call) {
  std::string mode = call.text("mode", "constant");
  if (mode == "constant")
    givePadded(call, "pad", PadMode::constant, fillOf(call));
  else if (mode == "reflect")
    givePadded(call, "pad", PadMode::reflect, 0);
  else if (mode == "replicate")
    givePadded(call, "pad", PadMode::replicate, 0);
  else if (mode == "circular")
    givePadded(call, "pad", PadMode::circular, 0);
  else
    call.invalid("mode '" + mode + "'");
}

//===- Other sizes --------------------------------------------------------===//

namespace {
/// A size for each axis, and what the program says that they are multiplied by.
struct Sizes {
  std::vector<int64_t> to;
  std::vector<double> scales; ///< empty where the sizes tell
};
} // namespace

static std::vector<double> realsOf(Call &call, const char *name) {
  const Value &list = call.value(name);
  if (!list.isList())
    call.invalid("scales that are no list");
  std::vector<double> reals;
  for (const Value &each : list.list)
    reals.push_back(numberOf(call, each).asReal());
  return reals;
}

/// The overload `vec` has a size or factors; the others have a size and, one by
/// one, the factors that it comes from.
static Sizes sizesOf(Call &call, const Tensor &x, size_t axes) {
  Sizes sizes;
  if (call.has("scale_factors"))
    sizes.scales = realsOf(call, "scale_factors");
  for (const char *name : {"scales", "scales_d", "scales_h", "scales_w"})
    if (call.has(name))
      sizes.scales.push_back(call.real(name));
  sizes.to = call.integers("output_size");
  if (!sizes.scales.empty() && sizes.scales.size() != axes)
    call.invalid("scales are not one for each axis");
  if (sizes.to.empty())
    for (size_t i = 0; i < sizes.scales.size(); ++i)
      sizes.to.push_back(int64_t(
          std::floor(double(fixed(x.dim(int64_t(i) + 2))) * sizes.scales[i])));
  if (sizes.to.size() != axes || x.rank() != int64_t(axes) + 2)
    call.invalid("a tensor of rank " + std::to_string(x.rank()) + " to " +
                 std::to_string(sizes.to.size()) + " sizes");
  return sizes;
}

template <size_t axes, Interpolation mode>
static void upsampleRule(Call &call) {
  Tensor x = call.tensor(call.has("input") ? "input" : "self");
  Sizes sizes = sizesOf(call, x, axes);
  InterpolateOptions options;
  options.mode = mode;
  options.align_corners = call.flag("align_corners");
  if (sizes.scales.empty())
    options.size = sizes.to;
  else
    options.scale_factor = sizes.scales;
  call.give(interpolate(x, options));
}

/// The weight of an element at a distance: of two around a place, or of four.
static double weightAt(bool isCubic, double distance) {
  double x = std::fabs(distance);
  if (!isCubic)
    return std::max(1 - x, 0.0);
  constexpr double a = -0.5;
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// A matrix [from, to] of weights: each element of the result is a mean of all
/// that lie under it. `scale` is elements of x in one of the result.
static std::vector<double> smoothed(bool isCubic, int64_t from, int64_t to,
                                    double scale) {
  double wide = std::max(scale, 1.0), reach = (isCubic ? 2 : 1) * wide;
  std::vector<double> matrix(size_t(from * to), 0.0);
  for (int64_t i = 0; i < to; ++i) {
    double centre = scale * (double(i) + 0.5), total = 0;
    auto first =
        std::max<int64_t>(int64_t(std::floor(centre - reach + 0.5)), 0);
    int64_t last =
        std::min<int64_t>(int64_t(std::floor(centre + reach + 0.5)), from);
    for (int64_t j = first; j < last; ++j)
      total += weightAt(isCubic, (double(j) - centre + 0.5) / wide);
    for (int64_t j = first; j < last; ++j)
      matrix[size_t(j * to + i)] =
          weightAt(isCubic, (double(j) - centre + 0.5) / wide) / total;
  }
  return matrix;
}

/// Axis by axis, a product with the weights.
template <bool isCubic> static void smoothRule(Call &call) {
  Tensor x = call.tensor(call.has("input") ? "input" : "self");
  Sizes sizes = sizesOf(call, x, 2);
  bool keepsCorners = call.flag("align_corners");
  Tensor y = widened(x);
  for (size_t i = 0; i < 2; ++i) {
    int64_t axis = int64_t(i) + 2, from = fixed(x.dim(axis)), to = sizes.to[i];
    constexpr int64_t most = 1 << 24;
    if (from < 1 || to < 1 || from > most / to)
      call.unsupported("so large a size");
    double scale = double(from) / double(to);
    if (keepsCorners)
      scale = to > 1 ? double(from - 1) / double(to - 1) : 0;
    else if (!sizes.scales.empty() && sizes.scales[i] > 0)
      scale = 1 / sizes.scales[i];
    Tensor matrix = tensor(smoothed(isCubic, from, to, scale), {from, to},
                           {DType::f64, x.device()})
                        .to(y.dtype());
    y = swapaxes(matmul(swapaxes(y, axis, 3), matrix), axis, 3);
  }
  call.give(y.to(x.dtype()));
}

//===- Any places ---------------------------------------------------------===//

static GridSampleOptions gridOptions(Call &call) {
  constexpr Interpolation modes[] = {
      Interpolation::linear, Interpolation::nearest, Interpolation::cubic};
  constexpr GridPadding paddings[] = {GridPadding::zeros, GridPadding::border,
                                      GridPadding::reflection};
  int64_t mode = call.integer("interpolation_mode", 0),
          padding = call.integer("padding_mode", 0);
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    call.invalid("interpolation mode " + std::to_string(mode) +
                 " with padding mode " + std::to_string(padding));
  return {modes[mode], paddings[padding], call.flag("align_corners")};
}

namespace {
/// The places along one axis [n, places], and with which weight.
struct AxisPlace {
  Tensor index, weight;
};
} // namespace

/// Mirrored at the first and last element, or at the borders of these.
static Tensor mirrored(const Tensor &place, int64_t size, bool keepsCorners) {
  double low = keepsCorners ? 0 : -0.5,
         span = keepsCorners ? double(size - 1) : double(size);
  if (span <= 0)
    return zeros_like(place);
  Tensor rest = remainder(abs(place - low), 2 * span);
  return minimum(rest, 2 * span - rest) + low;
}

/// Where -1 to 1 stand along an axis of `size` elements: those below and above,
/// or the nearest one. What is outside weighs nothing.
static std::vector<AxisPlace> placesAlong(const Tensor &at, int64_t size,
                                          const GridSampleOptions &options) {
  Tensor place = options.align_corners
                     ? (at + 1.0) * (double(size - 1) / 2)
                     : ((at + 1.0) * double(size) - 1.0) / 2.0;
  if (options.padding == GridPadding::reflection)
    place = mirrored(place, size, options.align_corners);
  if (options.padding != GridPadding::zeros)
    place = clamp(place, 0.0, double(size - 1));
  std::vector<AxisPlace> places;
  auto add = [&](const Tensor &whole, const Tensor &weight) {
    Tensor inside = logical_and(whole >= 0.0, whole <= double(size - 1));
    places.push_back({clamp(whole, 0.0, double(size - 1)).to(DType::i64),
                      where(inside, weight, zeros_like(weight))});
  };
  if (options.mode == Interpolation::nearest) {
    add(round(place), ones_like(place));
    return places;
  }
  Tensor below = floor(place), part = place - below;
  add(below, 1.0 - part);
  add(below + 1.0, part);
  return places;
}

/// x [n, c, d, h, w] at places (along w, along h, along d).
static Tensor volumeSample(Call &call, const Tensor &x, const Tensor &grid,
                           const GridSampleOptions &options) {
  if (options.mode == Interpolation::cubic)
    call.invalid("cubic samples of volumes");
  std::vector<int64_t> to = fixed(grid.shape()), from = fixed(x.shape());
  if (to.size() != 5 || to[4] != 3 || to[0] != from[0])
    call.invalid("the grid does not fit the volume");
  int64_t count = to[1] * to[2] * to[3];
  Tensor elements = reshape(x, {from[0], from[1], from[2] * from[3] * from[4]});
  Tensor flat = reshape(grid, {to[0], count, 3});
  std::vector<AxisPlace> along[3];
  for (size_t axis = 0; axis < 3; ++axis)
    along[axis] = placesAlong(select(flat, 2, 2 - int64_t(axis)),
                              from[axis + 2], options);
  Dims shape{from[0], from[1], count};
  Tensor total;
  for (const AxisPlace &d : along[0])
    for (const AxisPlace &h : along[1])
      for (const AxisPlace &w : along[2]) {
        Tensor place = (d.index * from[3] + h.index) * from[4] + w.index;
        Tensor taken =
            gather(elements, broadcast(unsqueeze(place, 1), shape), 2);
        Tensor part = taken * unsqueeze(d.weight * h.weight * w.weight, 1);
        total = total.defined() ? total + part : part;
      }
  return reshape(total, {from[0], from[1], to[1], to[2], to[3]});
}

static void gridRule(Call &call) {
  Tensor x = call.tensor("input");
  GridSampleOptions options = gridOptions(call);
  if (x.rank() == 5) {
    call.give(volumeSample(call, x, call.tensor("grid"), options));
    return;
  }
  call.give(grid_sample(x, call.tensor("grid"), options));
}

static void affineRule(Call &call) {
  call.give(affine_grid(call.tensor("theta"), call.dims("size"),
                        call.flag("align_corners")));
}

using enum Interpolation;

static constexpr Operator rows[] = {
    {"aten.constant_pad_nd.default", constantPadRule},
    {"aten.pad.default", padRule},
    {"aten.reflection_pad1d.default", edgePadRule<PadMode::reflect>},
    {"aten.reflection_pad2d.default", edgePadRule<PadMode::reflect>},
    {"aten.reflection_pad3d.default", edgePadRule<PadMode::reflect>},
    {"aten.replication_pad1d.default", edgePadRule<PadMode::replicate>},
    {"aten.replication_pad2d.default", edgePadRule<PadMode::replicate>},
    {"aten.replication_pad3d.default", edgePadRule<PadMode::replicate>},
    {"aten.upsample_nearest1d.vec", upsampleRule<1, nearest>},
    {"aten.upsample_nearest2d.vec", upsampleRule<2, nearest>},
    {"aten.upsample_nearest3d.vec", upsampleRule<3, nearest>},
    {"aten.upsample_nearest1d.default", upsampleRule<1, nearest>},
    {"aten.upsample_nearest2d.default", upsampleRule<2, nearest>},
    {"aten.upsample_nearest3d.default", upsampleRule<3, nearest>},
    {"aten._upsample_nearest_exact1d.vec", upsampleRule<1, nearest_exact>},
    {"aten._upsample_nearest_exact2d.vec", upsampleRule<2, nearest_exact>},
    {"aten._upsample_nearest_exact3d.vec", upsampleRule<3, nearest_exact>},
    {"aten._upsample_nearest_exact1d.default", upsampleRule<1, nearest_exact>},
    {"aten._upsample_nearest_exact2d.default", upsampleRule<2, nearest_exact>},
    {"aten._upsample_nearest_exact3d.default", upsampleRule<3, nearest_exact>},
    {"aten.upsample_linear1d.vec", upsampleRule<1, linear>},
    {"aten.upsample_bilinear2d.vec", upsampleRule<2, linear>},
    {"aten.upsample_trilinear3d.vec", upsampleRule<3, linear>},
    {"aten.upsample_linear1d.default", upsampleRule<1, linear>},
    {"aten.upsample_bilinear2d.default", upsampleRule<2, linear>},
    {"aten.upsample_trilinear3d.default", upsampleRule<3, linear>},
    {"aten.upsample_bicubic2d.vec", upsampleRule<2, cubic>},
    {"aten.upsample_bicubic2d.default", upsampleRule<2, cubic>},
    {"aten._upsample_bilinear2d_aa.vec", smoothRule<false>},
    {"aten._upsample_bilinear2d_aa.default", smoothRule<false>},
    {"aten._upsample_bicubic2d_aa.vec", smoothRule<true>},
    {"aten._upsample_bicubic2d_aa.default", smoothRule<true>},
    {"aten.grid_sampler.default", gridRule},
    {"aten.grid_sampler_2d.default", gridRule},
    {"aten.grid_sampler_3d.default", gridRule},
    {"aten.affine_grid_generator.default", affineRule},
};

std::span<const Operator> sampleRows() { return rows; }

} // namespace sinter::torch
