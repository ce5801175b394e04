/// Images at other sizes.
#include "frontend/import/onnx/rules/Rules.h"

#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sinter::onnx {

namespace {

/// What Resize's attributes say.
struct Resizing {
  std::string mode, coordinates, nearest, policy;
  double cubic = -0.75, outside = 0;
  bool antialias = false, excludesOutside = false;
};

/// One axis: its extents, by what it is multiplied, and the part of x that
/// `tf_crop_and_resize` takes.
struct AxisSizes {
  int64_t from = 0, to = 0;
  double scale = 1, start = 0, end = 1;
  /// The scale is given, a float: places between two elements are those that
  /// floats make of it.
  bool hasFloatScale = false;
};

/// Of each element of the result along one axis: which elements it is made of,
/// and with which weights; as many for each.
struct Taps {
  size_t count = 0;
  std::vector<int64_t> places;
  std::vector<double> weights;
  std::vector<int64_t> isOutside;
};

} // namespace

/// Where an element of the result stands in x, in numbers of type T.
template <typename T>
static double placeOf(Call &call, const Resizing &resizing,
                      const AxisSizes &axis, int64_t i) {
  const std::string &mode = resizing.coordinates;
  auto at = T(i), from = T(axis.from), to = T(axis.to), scale = T(axis.scale);
  T half = T(0.5), centre = (at + half) / scale - half;
  if (mode == "half_pixel")
    return centre;
  if (mode == "half_pixel_symmetric") {
    T offset = from / 2 * (1 - to / (from * scale));
    return offset + (at + half) / scale - half;
  }
  if (mode == "pytorch_half_pixel")
    return axis.to > 1 ? centre : 0;
  if (mode == "align_corners")
    return axis.to > 1 ? at * (from - 1) / (from * scale - 1) : 0;
  if (mode == "asymmetric")
    return at / scale;
  if (mode == "tf_half_pixel_for_nn")
    return (at + half) / scale;
  T start = T(axis.start), end = T(axis.end);
  if (mode == "tf_crop_and_resize")
    return axis.to > 1
               ? start * (from - 1) + at * (end - start) * (from - 1) / (to - 1)
               : half * (start + end) * (from - 1);
  call.unsupported("coordinate_transformation_mode '" + mode + "'");
}

static double sourceOf(Call &call, const Resizing &resizing,
                       const AxisSizes &axis, int64_t i) {
  return axis.hasFloatScale ? placeOf<float>(call, resizing, axis, i)
                            : placeOf<double>(call, resizing, axis, i);
}

static int64_t nearestOf(Call &call, const std::string &mode, double at,
                         double scale) {
  if (mode == "round_prefer_floor")
    return int64_t(std::ceil(at - 0.5));
  if (mode == "round_prefer_ceil")
    return int64_t(std::floor(at + 0.5));
  if (mode == "floor")
    return int64_t(std::floor(at));
  if (mode == "ceil")
    return int64_t(std::ceil(at));
  // Of Resize 10, whose places are floats.
  if (mode == "simple")
    return int64_t(scale < 1 ? std::ceil(float(at)) : float(at));
  call.invalid("nearest_mode '" + mode + "'");
}

static double cubicWeight(double a, double distance) {
  double x = std::fabs(distance);
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The weight of an element at a distance.
static double weightOf(const Resizing &resizing, double distance) {
  return resizing.mode == "cubic" ? cubicWeight(resizing.cubic, distance)
                                  : std::max(1 - std::fabs(distance), 0.0);
}

/// The elements around one place and their weights, which add up to 1.
static void addTaps(Taps &taps, const Resizing &resizing, const AxisSizes &axis,
                    double at) {
  double shrink = resizing.antialias ? std::min(axis.scale, 1.0) : 1.0;
  double reach = (resizing.mode == "cubic" ? 2 : 1) / shrink;
  auto first = int64_t(std::floor(at - reach)) + 1;
  std::vector<double> weights;
  double total = 0;
  for (size_t k = 0; k < taps.count; ++k) {
    int64_t place = first + int64_t(k);
    double weight = weightOf(resizing, (at - double(place)) * shrink);
    bool isOutside = place < 0 || place >= axis.from;
    if (isOutside && resizing.excludesOutside)
      weight = 0;
    weights.push_back(weight);
    total += weight;
    taps.places.push_back(std::clamp<int64_t>(place, 0, axis.from - 1));
  }
  bool isDivided = resizing.antialias || resizing.excludesOutside;
  for (double weight : weights)
    taps.weights.push_back(isDivided && total != 0 ? weight / total : weight);
}

static Taps tapsOf(Call &call, const Resizing &resizing,
                   const AxisSizes &axis) {
  Taps taps;
  double shrink = resizing.antialias ? std::min(axis.scale, 1.0) : 1.0;
  double reach = (resizing.mode == "cubic" ? 2 : 1) / shrink;
  bool isNearest = resizing.mode == "nearest";
  taps.count = isNearest ? 1 : size_t(std::floor(2 * reach)) + 1;
  if (!isNearest && !resizing.antialias)
    taps.count = resizing.mode == "cubic" ? 4 : 2;
  if (double(taps.count) * double(axis.to) > 1e8)
    call.unsupported("so many elements");
  for (int64_t i = 0; i < axis.to; ++i) {
    double at = sourceOf(call, resizing, axis, i);
    taps.isOutside.push_back(at < 0 || at > double(axis.from - 1));
    if (!isNearest) {
      addTaps(taps, resizing, axis, at);
      continue;
    }
    int64_t place = nearestOf(call, resizing.nearest, at, axis.scale);
    taps.places.push_back(std::clamp<int64_t>(place, 0, axis.from - 1));
    taps.weights.push_back(1);
  }
  return taps;
}

/// x along one axis: the sum of its elements at each tap times the weights.
static Tensor resized(const Tensor &x, int64_t axis, const Taps &taps) {
  auto size = int64_t(taps.isOutside.size());
  Tensor sum;
  for (size_t k = 0; k < taps.count; ++k) {
    std::vector<int64_t> places;
    std::vector<double> weights;
    bool areOnes = true;
    for (size_t i = k; i < taps.places.size(); i += taps.count) {
      places.push_back(taps.places[i]);
      weights.push_back(taps.weights[i]);
      areOnes = areOnes && taps.weights[i] == 1;
    }
    Tensor part =
        index_select(x, hostIntegers(places, {size}, x.device()), axis);
    if (!areOnes)
      part = part * alongAxis(hostReals(weights, {size}, x.dtype(), x.device()),
                              axis, x.rank());
    sum = k == 0 ? part : sum + part;
  }
  return sum;
}

/// Sizes that keep the ratio of the axes, or are what is named.
static void keepRatio(Call &call, const std::string &policy,
                      std::vector<AxisSizes> &axes,
                      const std::vector<int64_t> &chosen) {
  if (policy == "stretch")
    return;
  bool isLarger = policy == "not_smaller";
  if (!isLarger && policy != "not_larger")
    call.invalid("keep_aspect_ratio_policy '" + policy + "'");
  double scale = axes[size_t(chosen[0])].scale;
  for (int64_t axis : chosen) {
    double own = axes[size_t(axis)].scale;
    scale = isLarger ? std::max(scale, own) : std::min(scale, own);
  }
  for (int64_t axis : chosen) {
    AxisSizes &sizes = axes[size_t(axis)];
    sizes.scale = scale;
    sizes.to = int64_t(std::floor(scale * double(sizes.from) + 0.5));
  }
}

/// What a scale makes of an extent. The product is one of floats: 10 * 0.7f is
/// 7, which it is not in double.
static double scaledSize(int64_t from, double scale) {
  return double(std::floor(float(from) * float(scale)));
}

static bool givesNumbers(Call &call, size_t input) {
  return call.has(input) && !(call.value(input).rank() == 1 &&
                              call.value(input).shape()[0].value == 0);
}

/// Operands are roi, scales and sizes, the first at `first`.
static std::vector<AxisSizes> sizesOf(Call &call, const Tensor &x,
                                      const Resizing &resizing, size_t first) {
  std::vector<int64_t> chosen(size_t(x.rank()));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (call.opset() >= 18 && call.given("axes"))
    chosen = call.axesOf(call.integers("axes"), x.rank());
  std::vector<AxisSizes> axes;
  for (int64_t extent : numbersOf(x))
    axes.push_back({extent, extent});
  bool hasSizes = givesNumbers(call, first + 2);
  if (!hasSizes && !givesNumbers(call, first + 1))
    call.invalid("there are neither scales nor sizes");
  std::vector<double> numbers = hasSizes ? call.reals(first + 2, "sizes")
                                         : call.reals(first + 1, "scales");
  if (numbers.size() != chosen.size() || chosen.empty())
    call.invalid("scales or sizes are not one for each axis");
  for (size_t i = 0; i < chosen.size(); ++i) {
    AxisSizes &axis = axes[size_t(chosen[i])];
    double wanted = hasSizes ? numbers[i] : scaledSize(axis.from, numbers[i]);
    if (!(wanted >= 0 && wanted < 1e9) || axis.from == 0)
      call.invalid("a size of " + std::to_string(wanted));
    axis.to = int64_t(wanted);
    axis.scale = hasSizes ? wanted / double(axis.from) : numbers[i];
    axis.hasFloatScale = !hasSizes;
  }
  if (hasSizes)
    keepRatio(call, resizing.policy, axes, chosen);
  if (resizing.coordinates == "tf_crop_and_resize") {
    std::vector<double> roi = call.reals(first, "roi");
    if (roi.size() != 2 * chosen.size())
      call.invalid("roi is not two numbers for each axis");
    for (size_t i = 0; i < chosen.size(); ++i) {
      axes[size_t(chosen[i])].start = roi[i];
      axes[size_t(chosen[i])].end = roi[chosen.size() + i];
    }
  }
  return axes;
}

static void resizeTo(Call &call, const Tensor &x, const Resizing &resizing,
                     const std::vector<AxisSizes> &axes) {
  bool isNearest = resizing.mode == "nearest";
  if (!isNearest && resizing.mode != "linear" && resizing.mode != "cubic")
    call.invalid("mode '" + resizing.mode + "'");
  bool crops = resizing.coordinates == "tf_crop_and_resize";
  Tensor y = isNearest ? x : widened(asFloat(x));
  Tensor outside;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    const AxisSizes &sizes = axes[size_t(axis)];
    if (sizes.from == sizes.to && sizes.scale == 1 &&
        !(crops && (sizes.start != 0 || sizes.end != 1)))
      continue;
    Taps taps = tapsOf(call, resizing, sizes);
    y = resized(y, axis, taps);
    if (!crops)
      continue;
    Tensor own = alongAxis(
        hostIntegers(taps.isOutside, {sizes.to}, x.device()).to(DType::boolean),
        axis, x.rank());
    outside = outside.defined() ? logical_or(outside, own) : own;
  }
  if (outside.defined())
    y = where(outside, full({}, resizing.outside, {y.dtype(), y.device()}), y);
  if (!isFloat(x.dtype()) && !isNearest) {
    auto [least, largest] = rangeOf(x.dtype());
    y = clamp(round(y), least, largest);
  }
  call.give(y.to(x.dtype()));
}

static void resizeRule(Call &call) {
  Tensor x = call.tensor(0);
  Resizing resizing;
  resizing.mode = call.text("mode");
  if (call.opset() < 11) {
    resizing.coordinates = "asymmetric";
    resizing.nearest = "simple";
    resizing.policy = "stretch";
    // The operands are x and scales.
    return resizeTo(call, x, resizing, sizesOf(call, x, resizing, 0));
  }
  resizing.coordinates = call.text("coordinate_transformation_mode");
  resizing.nearest = call.text("nearest_mode");
  resizing.cubic = call.real("cubic_coeff_a");
  resizing.excludesOutside = call.flag("exclude_outside");
  resizing.outside = call.real("extrapolation_value");
  resizing.policy = "stretch";
  if (call.opset() >= 18) {
    resizing.antialias = call.flag("antialias");
    resizing.policy = call.text("keep_aspect_ratio_policy");
  }
  resizeTo(call, x, resizing, sizesOf(call, x, resizing, 1));
}

/// Before Resize: scales are an attribute, or an operand.
static void upsampleRule(Call &call) {
  Tensor x = call.tensor(0);
  std::vector<double> scales =
      call.opset() < 9 ? call.reals("scales") : call.reals(1, "scales");
  Resizing resizing;
  resizing.mode = call.text("mode");
  if (resizing.mode == "bilinear")
    resizing.mode = "linear";
  resizing.coordinates = "asymmetric";
  resizing.nearest = "floor";
  std::vector<int64_t> dims = numbersOf(x);
  if (scales.size() != dims.size())
    call.invalid("scales are not one for each axis");
  std::vector<AxisSizes> axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    double wanted = scaledSize(dims[i], scales[i]);
    if (!(wanted >= 0 && wanted < 1e9))
      call.invalid("a scale of " + std::to_string(scales[i]));
    axes.push_back({dims[i], int64_t(wanted), scales[i]});
    axes.back().hasFloatScale = true;
  }
  resizeTo(call, x, resizing, axes);
}

static constexpr const char *oldResize =
    "coordinate_transformation_mode:string=half_pixel "
    "cubic_coeff_a:float=-0.75 exclude_outside:int=0 "
    "extrapolation_value:float=0.0 mode:string=nearest "
    "nearest_mode:string=round_prefer_floor";

static constexpr Operator rows[] = {
    {"Resize", 10, 10, "mode:string=nearest", resizeRule},
    {"Resize", 11, 17, oldResize, resizeRule},
    {"Resize", 18, 0,
     "antialias:int=0 axes:ints "
     "coordinate_transformation_mode:string=half_pixel "
     "cubic_coeff_a:float=-0.75 exclude_outside:int=0 "
     "extrapolation_value:float=0.0 keep_aspect_ratio_policy:string=stretch "
     "mode:string=nearest nearest_mode:string=round_prefer_floor",
     resizeRule},
    {"Upsample", 7, 8, "mode:string=nearest scales:floats!", upsampleRule},
    {"Upsample", 9, 10, "mode:string=nearest", upsampleRule},
};

std::span<const Operator> resizeRows() { return rows; }

} // namespace sinter::onnx
