/// Reductions, and searches along an axis.
#include "frontend/CountedRows.h"
#include "frontend/import/onnx/rules/Rules.h"

#include <algorithm>
#include <limits>

namespace sinter::onnx {

namespace {
/// Over what, and whether it stays with size 1.
struct Reduced {
  Tensor x;
  std::vector<int64_t> axes;
  bool keepsDims;
  bool isNothing; ///< no axes, which here means that nothing is reduced
};
} // namespace

/// Axes are an operand from `inputSince` on, before that an attribute.
static Reduced reducedOf(Call &call, int64_t inputSince) {
  Reduced reduced{call.tensor(0), {}, call.flag("keepdims"), false};
  bool isInput = call.opset() >= inputSince;
  if (isInput && call.has(1))
    reduced.axes = call.integers(1, "axes");
  else if (!isInput)
    reduced.axes = call.integers("axes");
  int64_t rank = reduced.x.rank();
  if (reduced.axes.empty()) {
    reduced.isNothing = isInput && call.flag("noop_with_empty_axes");
    for (int64_t i = 0; i < rank; ++i)
      reduced.axes.push_back(i);
  }
  reduced.axes = call.axesOf(reduced.axes, rank);
  // A number has no axes, and an empty list of axes would be all of them.
  return reduced;
}

/// A reduction by `function`, of any dtype.
using Function = Tensor (*)(const Arg &, const Axes &, bool);

static Tensor applied(const Reduced &reduced, const Tensor &x,
                      Function function) {
  if (reduced.isNothing)
    return function(unsqueeze(x, 0), Axes{0}, false);
  if (reduced.axes.empty())
    return function(unsqueeze(x, 0), Axes{0}, false);
  return function(x, Axes(reduced.axes), reduced.keepsDims);
}

static constexpr int64_t newestFirst = 18;

template <Function function> static void reduceRule(Call &call) {
  Reduced reduced = reducedOf(call, newestFirst);
  DType dtype = reduced.x.dtype();
  call.give(applied(reduced, reduced.x, function).to(dtype));
}

static void sumRule(Call &call) {
  Reduced reduced = reducedOf(call, 13);
  if (reduced.isNothing)
    return call.give(reduced.x);
  call.give(applied(reduced, reduced.x, sum).to(reduced.x.dtype()));
}

/// Integers that f32 does not hold become f64.
static Tensor asWideFloat(const Tensor &x) {
  bool isWide = x.dtype() == DType::i32 || x.dtype() == DType::i64;
  return isWide ? x.to(DType::f64) : asFloat(x);
}

/// Of integers, too.
static void meanRule(Call &call) {
  Reduced reduced = reducedOf(call, newestFirst);
  Tensor x = asWideFloat(reduced.x);
  call.give(applied(reduced, x, mean).to(reduced.x.dtype()));
}

static Tensor l1(const Arg &x, const Axes &axes, bool keepdims) {
  return sum(abs(x), axes, keepdims);
}
static Tensor l2(const Arg &x, const Axes &axes, bool keepdims) {
  return l2_norm(x, axes, keepdims);
}
static Tensor sumSquare(const Arg &x, const Axes &axes, bool keepdims) {
  return sum(square(x), axes, keepdims);
}
static Tensor logSum(const Arg &x, const Axes &axes, bool keepdims) {
  return log(sum(x, axes, keepdims));
}

/// Of a float of any width, or of integers, which are rounded down again.
template <Function function> static void floatRule(Call &call) {
  Reduced reduced = reducedOf(call, newestFirst);
  Tensor x = asWideFloat(reduced.x);
  call.give(applied(reduced, x, function).to(reduced.x.dtype()));
}

/// The least or largest number of a dtype.
static Number endOf(DType dtype, bool isLargest) {
  if (isFloat(dtype)) {
    double infinity = std::numeric_limits<double>::infinity();
    return isLargest ? infinity : -infinity;
  }
  if (dtype == DType::i64)
    return isLargest ? std::numeric_limits<int64_t>::max()
                     : std::numeric_limits<int64_t>::min();
  auto [least, largest] = rangeOf(dtype);
  return int64_t(isLargest ? largest : least);
}

/// One number, of x's dtype.
static Tensor filledWith(const Dims &dims, Number number, const Tensor &x) {
  Options options{x.dtype(), x.device()};
  return number.isReal ? full(dims, number.real, options)
                       : full(dims, number.integer, options);
}

static bool isEmptyAlong(const Reduced &reduced) {
  return std::ranges::any_of(reduced.axes, [&](int64_t axis) {
    return reduced.x.dim(axis).value == 0;
  });
}

/// The shape of the result of a reduction.
static Dims reducedShape(const Reduced &reduced) {
  Dims dims;
  for (int64_t i = 0; i < reduced.x.rank(); ++i) {
    bool isGone = std::ranges::count(reduced.axes, i) > 0;
    if (!isGone || reduced.keepsDims)
      dims.push_back(isGone ? Dim(1) : reduced.x.dim(i));
  }
  return dims;
}

/// The logarithm of nothing's sum is that of 0.
static void logSumExpRule(Call &call) {
  Reduced reduced = reducedOf(call, newestFirst);
  if (!isEmptyAlong(reduced) || reduced.isNothing)
    return floatRule<logsumexp>(call);
  double none = -std::numeric_limits<double>::infinity();
  Tensor filled = full(reducedShape(reduced), none,
                       {asFloat(reduced.x).dtype(), reduced.x.device()});
  call.give(filled.to(reduced.x.dtype()));
}

/// One more row along each axis whose size values decide, which may be 0.
static Reduced neverEmpty(Reduced reduced, Number end) {
  for (int64_t axis : reduced.axes) {
    if (!detail::isCounted(reduced.x.dim(axis)))
      continue;
    Dims dims = reduced.x.shape();
    dims[size_t(axis)] = 1;
    reduced.x = concat({reduced.x, filledWith(dims, end, reduced.x)}, axis);
  }
  return reduced;
}

/// An extremum of nothing is the end of the dtype's range.
template <bool isMax> static void extremumRule(Call &call) {
  Reduced reduced = reducedOf(call, newestFirst);
  const Tensor &x = reduced.x;
  if (x.dtype() == DType::boolean)
    return call.give(applied(reduced, x, isMax ? any : all));
  Number end = endOf(x.dtype(), !isMax);
  if (isEmptyAlong(reduced) && !reduced.isNothing)
    return call.give(filledWith(reducedShape(reduced), end, x));
  if (!reduced.isNothing)
    reduced = neverEmpty(reduced, end);
  call.give(applied(reduced, reduced.x, isMax ? amax : amin));
}

/// The first of equal elements, or the last.
template <bool isMax> static void searchRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axis("axis", x.rank());
  bool keepsDims = call.flag("keepdims");
  auto find = isMax ? argmax : argmin;
  if (call.opset() < 12 || !call.flag("select_last_index"))
    return call.give(find(x, axis, keepsDims));
  Dim length = x.dim(axis);
  Tensor last = find(flip(x, {axis}), axis, keepsDims);
  call.give(fixed(length) - 1 - last);
}

/// Sums or products of the elements before each one, too.
template <Tensor (*function)(const Arg &, int64_t, bool), bool isProduct>
static void cumulativeRule(Call &call) {
  Tensor x = call.tensor(0);
  int64_t axis = call.axisOf(call.integer(1, "axis"), x.rank());
  bool isReverse = call.flag("reverse");
  Tensor result = function(x, axis, isReverse).to(x.dtype());
  if (call.flag("exclusive") && x.dim(axis).value > 0) {
    Dim length = x.dim(axis);
    Padding moved{axis, isReverse ? 0 : 1, isReverse ? 1 : 0};
    Tensor kept = isReverse ? sliceAxis(result, axis, 1, length)
                            : sliceAxis(result, axis, 0, length - Dim(1));
    result = pad(kept, {moved}, PadMode::constant, isProduct ? 1 : 0);
  }
  call.give(result);
}

static constexpr const char *oldAxes = "axes:ints keepdims:int=1";
static constexpr const char *newAxes =
    "keepdims:int=1 noop_with_empty_axes:int=0";
static constexpr const char *oldSearch = "axis:int=0 keepdims:int=1";
static constexpr const char *newSearch =
    "axis:int=0 keepdims:int=1 select_last_index:int=0";
static constexpr const char *cumulative = "exclusive:int=0 reverse:int=0";

static constexpr Operator rows[] = {
    {"ReduceSum", 1, 12, oldAxes, sumRule},
    {"ReduceSum", 13, 0, newAxes, sumRule},
    {"ReduceMean", 1, 17, oldAxes, meanRule},
    {"ReduceMean", 18, 0, newAxes, meanRule},
    {"ReduceMax", 1, 17, oldAxes, extremumRule<true>},
    {"ReduceMax", 18, 0, newAxes, extremumRule<true>},
    {"ReduceMin", 1, 17, oldAxes, extremumRule<false>},
    {"ReduceMin", 18, 0, newAxes, extremumRule<false>},
    {"ReduceProd", 1, 17, oldAxes, reduceRule<prod>},
    {"ReduceProd", 18, 0, newAxes, reduceRule<prod>},
    {"ReduceL1", 1, 17, oldAxes, reduceRule<l1>},
    {"ReduceL1", 18, 0, newAxes, reduceRule<l1>},
    {"ReduceL2", 1, 17, oldAxes, floatRule<l2>},
    {"ReduceL2", 18, 0, newAxes, floatRule<l2>},
    {"ReduceLogSum", 1, 17, oldAxes, floatRule<logSum>},
    {"ReduceLogSum", 18, 0, newAxes, floatRule<logSum>},
    {"ReduceLogSumExp", 1, 17, oldAxes, logSumExpRule},
    {"ReduceLogSumExp", 18, 0, newAxes, logSumExpRule},
    {"ReduceSumSquare", 1, 17, oldAxes, reduceRule<sumSquare>},
    {"ReduceSumSquare", 18, 0, newAxes, reduceRule<sumSquare>},
    {"ArgMax", 1, 11, oldSearch, searchRule<true>},
    {"ArgMax", 12, 0, newSearch, searchRule<true>},
    {"ArgMin", 1, 11, oldSearch, searchRule<false>},
    {"ArgMin", 12, 0, newSearch, searchRule<false>},
    {"CumSum", 11, 0, cumulative, cumulativeRule<cumsum, false>},
    {"CumProd", 26, 0, cumulative, cumulativeRule<cumprod, true>},
};

std::span<const Operator> reductionRows() { return rows; }

} // namespace sinter::onnx
