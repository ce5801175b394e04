/// Functions of numbers and reductions, written in the ops of Ops.h.
#include <sinter/Functions.h>

#include "frontend/ComplexOps.h"
#include "frontend/Lines.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"
#include "sinter/generated/builders/Elementwise.h"
#include "sinter/generated/builders/Math.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

#include <cmath>

namespace sinter {

using detail::Composed;
using detail::lineAxis;

//===- Elementwise --------------------------------------------------------===//

Tensor div(const Arg &lhs, const Arg &rhs, Rounding rounding) try {
  if (rounding == Rounding::none)
    return div(lhs, rhs);
  if (rounding == Rounding::floor)
    return floor_divide(lhs, rhs);
  detail::Recorder recorder(graph::OpId::div, lhs);
  auto nodes =
      recorder.operands(detail::Promotion::match, 0b11, true, lhs, rhs);
  auto quotient = graph::div(nodes[0], nodes[1]);
  if (quotient && isFloat(nodes[0]->dtype()))
    quotient = graph::trunc(*quotient);
  return recorder.result(std::move(quotient));
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

/// A power by products, roots and quotients; null for other exponents.
static Result<graph::NodeRef> knownPower(const graph::NodeRef &x,
                                         double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return graph::square(x);
  if (exponent == 3) {
    SINTER_TRY_ASSIGN(graph::NodeRef square, graph::square(x));
    return graph::mul(square, x);
  }
  if (!isFloat(x->dtype()))
    return graph::NodeRef();
  if (exponent == 0.5)
    return graph::sqrt(x);
  if (exponent == -0.5)
    return graph::rsqrt(x);
  if (exponent == -1)
    return graph::reciprocal(x);
  return graph::NodeRef();
}

Tensor pow(const Arg &lhs, const Arg &rhs) try {
  if (detail::anyComplex(lhs, rhs)) [[unlikely]]
    return detail::complexPow(lhs, rhs);
  detail::Recorder recorder(graph::OpId::pow, lhs);
  auto nodes =
      recorder.operands(detail::Promotion::match, 0b11, true, lhs, rhs);
  if (lhs.isTensor() && !rhs.isTensor() && !rhs.dynamic) {
    auto known = knownPower(nodes[0], rhs.number.asReal());
    if (!known || *known)
      return recorder.result(std::move(known));
  }
  return recorder.result(graph::pow(nodes[0], nodes[1]));
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

/// The largest finite number of a float dtype.
static double largestOf(DType dtype) {
  switch (dtype) {
  case DType::f16:
    return 65504;
  case DType::bf16:
    return 0x1.fep127;
  case DType::f64:
    return std::numeric_limits<double>::max();
  default:
    return std::numeric_limits<float>::max();
  }
}

Tensor nan_to_num(const Arg &x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf) try {
  detail::Recorder recorder(graph::OpId::nan_to_num, x);
  auto nodes = recorder.operands(detail::Promotion::floating, 1, false, x);
  double largest = largestOf(nodes[0]->dtype());
  return recorder.result(graph::nan_to_num(nodes[0], Number(nan),
                                           Number(posinf.value_or(largest)),
                                           Number(neginf.value_or(-largest))));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor logit(const Arg &x, std::optional<double> eps) try {
  Composed call("logit", x);
  Tensor p = eps ? clamp(call.x, *eps, 1 - *eps) : call.x;
  return log(p) - log1p(-p);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor lerp(const Arg &start, const Arg &end, const Arg &weight) try {
  Composed call("lerp", start);
  return call.x + weight * (end - call.x);
} catch (...) {
  detail::raiseExhausted(start.where);
}

Tensor addcmul(const Arg &x, const Arg &a, const Arg &b, double value) try {
  Composed call("addcmul", x);
  return call.x + value * (a * b);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor addcdiv(const Arg &x, const Arg &a, const Arg &b, double value) try {
  Composed call("addcdiv", x);
  return call.x + value * (a / b);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor clamp_min(const Arg &x, double min) { return clamp(x, min); }

Tensor clamp_max(const Arg &x, double max) try {
  return clamp(x, -std::numeric_limits<double>::infinity(), max);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor masked_fill(const Arg &x, const Arg &mask, const Arg &value) try {
  return where(mask, value, x);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor isclose(const Arg &lhs, const Arg &rhs, double rtol, double atol,
               bool equal_nan) try {
  Composed call("isclose", lhs);
  Tensor b = detail::asTensor(rhs);
  Tensor distance = abs(call.x - b);
  Tensor close = (distance <= atol + rtol * abs(b)) * isfinite(b);
  close = close + (call.x == b);
  return equal_nan ? close + isnan(call.x) * isnan(b) : close;
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

//===- Extremes -----------------------------------------------------------===//

namespace {
using Search = Tensor (*)(const Arg &x, int64_t axis, bool keepdims);
} // namespace

static Extremes extremes(const char *name, Search search, const Arg &x,
                         int64_t axis, bool keepdims) {
  Composed call(name, x);
  int64_t at = lineAxis(call, axis);
  Tensor indices = search(call.x, at, true);
  Tensor values = gather(call.x, indices, at);
  if (keepdims)
    return {values, indices};
  return {squeeze(values, {at}), squeeze(indices, {at})};
}

Extremes max(const Arg &x, int64_t axis, bool keepdims) try {
  return extremes("max", argmax, x, axis, keepdims);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Extremes min(const Arg &x, int64_t axis, bool keepdims) try {
  return extremes("min", argmin, x, axis, keepdims);
} catch (...) {
  detail::raiseExhausted(x.where);
}

namespace {
/// What a number's line of one element gives, as numbers.
template <typename Function>
Extremes ofNumber(const Tensor &x, Function function) {
  Extremes found = function(reshape(x, {1}));
  return {reshape(found.values, Dims{}), reshape(found.indices, Dims{})};
}
} // namespace

/// The largest position of an element so far that is its own result, as every
/// NaN is.
static Extremes prefixExtremes(const Composed &call, const Tensor &values,
                               int64_t axis) {
  Tensor numbers = iota(call.x.shape(), axis, {DType::i64, call.x.device()});
  Tensor isOwn = values == call.x;
  if (isFloat(call.x.dtype()))
    isOwn = isOwn + isnan(call.x);
  Tensor own = where(isOwn, numbers, 0);
  detail::Recorder recorder(graph::OpId::cummax, own);
  return {values,
          recorder.result(graph::cummax(own.node(), axis, /*reverse=*/false))};
}

Extremes cummax(const Arg &x, int64_t axis) try {
  Composed call("cummax", x);
  int64_t at = lineAxis(call, axis);
  if (call.x.rank() == 0)
    return ofNumber(call.x, [](const Tensor &line) { return cummax(line, 0); });
  detail::Recorder recorder(graph::OpId::cummax, x);
  return prefixExtremes(
      call, recorder.result(graph::cummax(call.x.node(), at, false)), at);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Extremes cummin(const Arg &x, int64_t axis) try {
  Composed call("cummin", x);
  int64_t at = lineAxis(call, axis);
  if (call.x.rank() == 0)
    return ofNumber(call.x, [](const Tensor &line) { return cummin(line, 0); });
  detail::Recorder recorder(graph::OpId::cummin, x);
  return prefixExtremes(
      call, recorder.result(graph::cummin(call.x.node(), at, false)), at);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// Where the middle element along an axis stands in order: the first NaN's
/// place, where there is one, as none comes before it.
static Tensor middleOf(const Tensor &x, int64_t axis) {
  Tensor isNumber = x == x;
  Tensor numbers = sum(isNumber, axis, /*keepdims=*/true);
  int64_t length = x.dim(axis).value;
  return where(numbers == length, (length - 1) / 2, numbers);
}

Extremes median(const Arg &x, int64_t axis, bool keepdims) try {
  Composed call("median", x);
  int64_t at = lineAxis(call, axis);
  if (call.x.rank() == 0)
    return ofNumber(call.x, [](const Tensor &line) { return median(line, 0); });
  call.x = detail::withKnownLength(call.x, at);
  int64_t length = call.x.dim(at).value;
  if (length == 0)
    call.fail(fmt::format("axis {} is empty", at));
  Sorted sorted = sort(call.x, at);
  auto pick = [&](const Tensor &from) {
    if (isFloat(call.x.dtype()))
      return gather(from, middleOf(call.x, at), at);
    return narrow(from, at, (length - 1) / 2, 1);
  };
  Extremes kept{pick(sorted.values), pick(sorted.indices)};
  if (keepdims)
    return kept;
  return {squeeze(kept.values, {at}), squeeze(kept.indices, {at})};
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Reductions ---------------------------------------------------------===//

/// x^exponent of an x from 0 on, whose gradient at 0 is 0.
static Tensor smoothPower(const Tensor &x, double exponent) {
  Tensor isZero = x == 0;
  return where(isZero, 0, pow(where(isZero, 1, x), exponent));
}

Tensor std(const Arg &x, const Axes &axes, double correction,
           bool keepdims) try {
  Composed call("std", x);
  return smoothPower(var(call.x, axes, correction, keepdims), 0.5);
} catch (...) {
  detail::raiseExhausted(x.where);
}

std::pair<Tensor, Tensor> var_mean(const Arg &x, const Axes &axes,
                                   double correction, bool keepdims) try {
  Composed call("var_mean", x);
  return {var(call.x, axes, correction, keepdims),
          mean(call.x, axes, keepdims)};
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor cov(const Arg &x, double correction) try {
  Composed call("cov", x);
  if (call.x.rank() != 2 || !isFloat(call.x.dtype()))
    call.fail("the operand must be floats [variables, samples]");
  Tensor centred = detail::centered(call.x, 1);
  Tensor count = sum(ones({call.x.dim(1)}, {call.x.dtype(), call.x.device()}));
  return matmul(centred, transpose(centred, {1, 0})) /
         maximum(count - correction, 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor norm(const Arg &x, double p, const Axes &axes, bool keepdims) try {
  Composed call("norm", x);
  if (p == 2)
    return l2_norm(call.x, axes, keepdims);
  Tensor magnitude = abs(call.x);
  if (p == 1)
    return sum(magnitude, axes, keepdims);
  if (std::isinf(p))
    return p > 0 ? amax(magnitude, axes, keepdims)
                 : amin(magnitude, axes, keepdims);
  if (p == 0)
    return count_nonzero(call.x, axes, keepdims).to(call.x.dtype());
  if (p < 0)
    return pow(sum(pow(magnitude, p), axes, keepdims), 1 / p);
  Tensor powers = p < 1 ? smoothPower(magnitude, p) : pow(magnitude, p);
  return smoothPower(sum(powers, axes, keepdims), 1 / p);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor one_hot(const Arg &indices, int64_t classes) try {
  Composed call("one_hot", indices);
  if (classes < 1)
    call.fail(fmt::format("{} classes", classes));
  Dims shape = call.x.shape();
  shape.push_back(Dim(classes));
  Tensor numbers = iota(shape, call.x.rank(), {DType::i64, call.x.device()});
  // Taken from 0, 1, 2, ..., so that an index out of range is an error.
  Tensor flat = reshape(call.x, {-1});
  Tensor checked =
      gather(arange(Dim(classes), {DType::i64, call.x.device()}), flat, 0);
  Tensor own = unsqueeze(reshape(checked, call.x.shape()), -1);
  return (numbers == own).to(DType::i64);
} catch (...) {
  detail::raiseExhausted(indices.where);
}

} // namespace sinter
