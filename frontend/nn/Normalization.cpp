/// Normalization over recorded ops.
#include <sinter/Normalization.h>

#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/UserCallback.h"
#include "frontend/nn/ComposedCall.h"
#include "frontend/nn/LocalOps.h"
#include "runtime/graph/OpIds.h"

#include <sinter/Creation.h>
#include <sinter/CustomGradient.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace sinter {

using detail::ComposedCall;
using detail::SummingCall;

/// Axes [from, to).
static Axes axesFrom(int64_t from, int64_t to) {
  std::vector<int64_t> axes;
  for (int64_t axis = from; axis < to; ++axis)
    axes.push_back(axis);
  return axes;
}

//===- By channels --------------------------------------------------------===//

static void checkChannels(const ComposedCall &call, const Tensor &x) {
  if (x.rank() < 2)
    call.fail("expects [n, channels, space...]", {x});
}

/// A value for each channel, along axis 1 of x.
static Tensor ofChannels(const ComposedCall &call, const Tensor &values,
                         const Tensor &x) {
  if (values.rank() != 1 || values.dim(0).value != x.dim(1).value)
    call.fail("expects a value for each channel", {x, values});
  Dims shape(x.rank(), Dim(1));
  shape[1] = x.dim(1);
  return reshape(values, shape);
}

/// A value for each channel, if given.
static Tensor alongChannels(const ComposedCall &call,
                            const std::optional<Tensor> &given,
                            const Tensor &x) {
  Tensor values = call.given(given);
  return values.defined() ? ofChannels(call, values, x) : values;
}

static Tensor withAffine(const ComposedCall &call, Tensor y,
                         const Affine &affine) {
  if (Tensor weight = alongChannels(call, affine.weight, y); weight.defined())
    y = y * weight;
  if (Tensor bias = alongChannels(call, affine.bias, y); bias.defined())
    y = y + bias;
  return y;
}

namespace {
/// The mean of x along axes and its variance, both with those axes, of 1.
struct Moments {
  Tensor center, spread;
};
} // namespace

// Sums of what is left of the mean and of its square stand side by side: both
// are known after one more walk over x. What corrects the mean has no gradient,
// as what is left sums up to 0.
static Moments momentsOf(const Tensor &x, const Axes &axes) {
  Tensor center = mean(x, axes, true), left = x - center;
  Tensor missing = mean(left, axes, true).detach();
  Tensor spread = mean(square(left), axes, true);
  return {center + missing, maximum(spread - square(missing), 0)};
}

/// x brought to mean 0 and variance 1 along axes, then times `weight` and plus
/// `bias` if given, which have extent 1 along those axes and x's extents along
/// the others, or 1. Its gradient is Ioffe and Szegedy's ("Batch
/// Normalization", 2015, section 3), all of whose sums stand side by side;
/// those of the single steps would follow each other.
static Tensor standardized(const Tensor &x, const Axes &axes, double eps,
                           const Tensor &weight = {}, const Tensor &bias = {}) {
  const bool isScaled = weight.defined(), isMoved = bias.defined();
  auto forward = [=](std::span<const Tensor> inputs) {
    Moments own = momentsOf(inputs[0], axes);
    Tensor y = (inputs[0] - own.center) * rsqrt(own.spread + eps);
    if (isScaled)
      y = y * inputs[1];
    return isMoved ? y + inputs.back() : y;
  };
  auto backward = [=](const CustomContext &context) {
    const Tensor &x = context.inputs[0], &gradient = context.gradient;
    Moments own = momentsOf(x, axes);
    Tensor scale = rsqrt(own.spread + eps), y = (x - own.center) * scale;
    Tensor left = gradient - mean(gradient, axes, true) -
                  y * mean(gradient * y, axes, true);
    std::vector<Tensor> gradients{
        left * (isScaled ? scale * context.inputs[1] : scale)};
    if (isScaled)
      gradients.push_back(sum(gradient * y, axes, true));
    if (isMoved)
      gradients.push_back(sum(gradient, axes, true));
    return gradients;
  };
  std::vector<Arg> inputs{x};
  if (isScaled)
    inputs.push_back(weight);
  if (isMoved)
    inputs.push_back(bias);
  return detail::withOwnGradient(custom_gradient(forward, backward)(inputs));
}

/// How many elements stand along axes, as a number of rank 0.
static Tensor countAlong(const Tensor &x, std::span<const int64_t> axes) {
  Dim count(1);
  for (int64_t axis : axes)
    count = count * x.dim(axis);
  detail::Recorder recorder(graph::OpId::extent, SourceLine());
  return recorder.result(graph::extent(count, x.dtype(), x.device()));
}

BatchNormalized batch_norm(const Arg &x, const Affine &affine) try {
  SummingCall call("batch_norm", {&x});
  Tensor wide = call.real(x);
  checkChannels(call, wide);
  std::vector<int64_t> others{0};
  int64_t elements = wide.dim(0).value;
  for (int64_t axis = 2; axis < wide.rank(); ++axis) {
    others.push_back(axis);
    elements *= wide.dim(axis).value;
  }
  if (elements == 1)
    call.fail("training needs more than one value for each channel", {wide});
  Tensor y = standardized(wide, others, affine.eps,
                          alongChannels(call, affine.weight, wide),
                          alongChannels(call, affine.bias, wide));
  auto [center, spread] = momentsOf(wide, others);
  Tensor count = countAlong(wide, others);
  return {call.done(y), squeeze(center, others),
          squeeze(spread, others) * (count / (count - 1))};
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor batch_norm(const Arg &x, const Arg &mean, const Arg &var,
                  const Affine &affine) try {
  SummingCall call("batch_norm", {&x});
  Tensor wide = call.real(x);
  checkChannels(call, wide);
  Tensor center = ofChannels(call, call.real(mean), wide);
  Tensor scale = rsqrt(call.real(var) + affine.eps);
  Tensor y = (wide - center) * ofChannels(call, scale, wide);
  return call.done(withAffine(call, y, affine));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor group_norm(const Arg &x, int64_t groups, const Affine &affine) try {
  SummingCall call("group_norm", {&x});
  Tensor wide = call.real(x);
  checkChannels(call, wide);
  if (groups < 1 || wide.dim(1).value % groups != 0)
    call.fail("the channels are not " + std::to_string(groups) +
                  " equal groups",
              {wide});
  Dim ofGroup = floorDiv(wide.dim(1), Dim(groups));
  for (int64_t axis = 2; axis < wide.rank(); ++axis)
    ofGroup = ofGroup * wide.dim(axis);
  Tensor apart = reshape(wide, {wide.dim(0), groups, ofGroup});
  Tensor y = reshape(standardized(apart, 2, affine.eps), wide.shape());
  return call.done(withAffine(call, y, affine));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor instance_norm(const Arg &x, const Affine &affine) try {
  SummingCall call("instance_norm", {&x});
  Tensor wide = call.real(x);
  checkChannels(call, wide);
  if (wide.rank() < 3)
    call.fail("there is no space to normalize over", {wide});
  Tensor y = standardized(wide, axesFrom(2, wide.rank()), affine.eps);
  return call.done(withAffine(call, y, affine));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor local_response_norm(const Arg &x, int64_t size,
                           const LocalResponseOptions &options) try {
  SummingCall call("local_response_norm", {&x});
  Tensor wide = call.real(x);
  checkChannels(call, wide);
  if (size < 1)
    call.fail("the size is not positive", {wide});
  std::vector<int64_t> low(wide.rank(), 0), interior(wide.rank(), 0);
  low[1] = size / 2;
  Dims padded = wide.shape();
  padded[1] = padded[1] + Dim(size - 1);
  Tensor squares = pad(square(wide), low, padded, interior, 0);
  Tensor around = mean(window(squares, 1, size, 1, 1), -1);
  return call.done(
      wide / detail::power(around * options.alpha + options.k, options.beta));
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- By last axes -------------------------------------------------------===//

/// The first of the last axes, which must be of `shape`.
static int64_t firstOf(const ComposedCall &call, const Tensor &x,
                       const Dims &shape) {
  Dims own = x.shape();
  int64_t first = x.rank() - static_cast<int64_t>(shape.size());
  if (shape.empty() || first < 0 ||
      !std::equal(
          shape.begin(), shape.end(), own.begin() + first,
          [](Dim a, Dim b) { return a.value == b.value; })) {
    std::string text;
    for (Dim dim : shape)
      text += (text.empty() ? "" : ",") + std::to_string(dim.value);
    call.fail("the last axes are not [" + text + "]", {x});
  }
  return first;
}

static Tensor ofShape(const ComposedCall &call, const Tensor &values,
                      const Dims &shape) {
  Dims own = values.shape();
  if (!std::ranges::equal(own, shape, {}, &Dim::value, &Dim::value))
    call.fail("weight and bias must have the shape that is normalized",
              {values});
  return values;
}

Tensor layer_norm(const Arg &x, const Dims &shape, const Affine &affine) try {
  SummingCall call("layer_norm", {&x});
  Tensor wide = call.real(x);
  int64_t first = firstOf(call, wide, shape);
  Tensor weight = call.given(affine.weight), bias = call.given(affine.bias);
  if (weight.defined() && bias.defined() && shape.size() == 1)
    return call.done(layer_norm(Arg(wide), weight, bias, affine.eps));
  Tensor y = standardized(wide, axesFrom(first, wide.rank()), affine.eps);
  if (weight.defined())
    y = y * ofShape(call, weight, shape);
  if (bias.defined())
    y = y + ofShape(call, bias, shape);
  return call.done(y);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// The distance from 1 to the next number of a dtype.
static double epsilonOf(DType dtype) {
  switch (dtype) {
  case DType::f64:
    return std::numeric_limits<double>::epsilon();
  case DType::f16:
    return 0x1p-10;
  case DType::bf16:
    return 0x1p-7;
  default:
    return std::numeric_limits<float>::epsilon();
  }
}

Tensor rms_norm(const Arg &x, const Dims &shape,
                const std::optional<Tensor> &weight,
                std::optional<double> eps) try {
  SummingCall call("rms_norm", {&x});
  Tensor wide = call.real(x);
  int64_t first = firstOf(call, wide, shape);
  double added = eps.value_or(epsilonOf(call.result()));
  Axes axes = axesFrom(first, wide.rank());
  Tensor y = wide * rsqrt(mean(square(wide), axes, true) + added);
  if (weight)
    y = y * ofShape(call, call.given(weight), shape);
  return call.done(y);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor normalize(const Arg &x, double p, int64_t axis, double eps) try {
  SummingCall call("normalize", {&x});
  Tensor wide = call.real(x);
  Tensor size = detail::vectorNorm(wide, p, axis, true);
  return call.done(wide / maximum(size, eps));
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
