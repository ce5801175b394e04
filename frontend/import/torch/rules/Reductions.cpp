/// Reductions: sums, means, extremes, norms.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/generated/functions/Folds.h>
#include <sinter/nn/Losses.h>

#include <cmath>
#include <limits>

namespace sinter::torch {

//===- Axes ---------------------------------------------------------------===//

/// The axes of an argument; None and an empty list are all of them.
static Axes axesOf(Call &call, const Tensor &x, const char *name = "dim") {
  std::vector<int64_t> axes = call.integers(name);
  if (axes.empty() || x.rank() == 0)
    return {};
  for (int64_t &axis : axes)
    axis = call.axisOf(axis, x.rank());
  return axes;
}

/// A tensor without axes as a vector of one, which reductions along an axis
/// take.
static Tensor withAxis(const Tensor &x) {
  return x.rank() == 0 ? reshape(x, {1}) : x;
}

/// The result of a reduction along the axis of withAxis, without that axis.
static Tensor withoutAxis(const Tensor &reduced, const Tensor &x) {
  return x.rank() == 0 ? reshape(reduced, {}) : reduced;
}

static Tensor flat(const Tensor &x) { return reshape(x, {-1}); }

//===- Sums and means -----------------------------------------------------===//

static void sumRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self");
  call.give(
      sum(x.to(call.outputDType()), axesOf(call, x), call.flag("keepdim")));
}

static void nansumRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self").to(call.outputDType());
  Tensor numbers = isFloat(x.dtype()) ? where(isnan(x), zeros_like(x), x) : x;
  call.give(sum(numbers, axesOf(call, x), call.flag("keepdim")));
}

static void meanRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self");
  call.give(
      mean(x.to(call.outputDType()), axesOf(call, x), call.flag("keepdim")));
}

static void nanmeanRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self").to(call.outputDType());
  Axes axes = axesOf(call, x);
  bool keeps = call.flag("keepdim");
  Tensor isNumber = logical_not(isnan(x));
  call.give(sum(where(isNumber, x, zeros_like(x)), axes, keeps) /
            sum(isNumber.to(x.dtype()), axes, keeps));
}

static void prodRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self");
  call.give(
      prod(x.to(call.outputDType()), axesOf(call, x), call.flag("keepdim")));
}

static Tensor truths(const Tensor &x) {
  return x.dtype() == DType::boolean ? x : x != 0;
}

template <Tensor (*function)(const Arg &, const Axes &, bool)>
static void truthRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor result = function(truths(x), axesOf(call, x), call.flag("keepdim"));
  call.give(result.to(call.outputDType()));
}

static void countRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(sum(truths(x).to(DType::i64), axesOf(call, x), false));
}

static void traceRule(Call &call) {
  call.give(trace(call.tensor("self").to(call.outputDType())));
}

//===- Extremes -----------------------------------------------------------===//

/// Bools are bytes meanwhile.
template <Tensor (*function)(const Arg &, const Axes &, bool)>
static Tensor extreme(const Tensor &x, const Axes &axes, bool keeps) {
  if (x.dtype() == DType::boolean)
    return function(x.to(DType::u8), axes, keeps).to(DType::boolean);
  return function(x, axes, keeps);
}

template <Tensor (*function)(const Arg &, const Axes &, bool)>
static void extremeRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(extreme<function>(x, axesOf(call, x), call.flag("keepdim")));
}

static void aminmaxRule(Call &call) {
  Tensor x = call.tensor("self");
  Axes axes = axesOf(call, x);
  bool keeps = call.flag("keepdim");
  call.give(extreme<amin>(x, axes, keeps));
  call.give(extreme<amax>(x, axes, keeps));
}

/// Values, and where they stand.
template <Extremes (*function)(const Arg &, int64_t, bool)>
static void extremesRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor wide = withAxis(x);
  bool isBool = x.dtype() == DType::boolean;
  Extremes found =
      function(isBool ? wide.to(DType::u8) : wide,
               call.axis("dim", wide.rank(), -1), call.flag("keepdim"));
  call.give(withoutAxis(found.values.to(x.dtype()), x));
  call.give(withoutAxis(found.indices, x));
}

template <Tensor (*function)(const Arg &, int64_t, bool)>
static void positionRule(Call &call) {
  Tensor x = call.tensor("self");
  bool keeps = call.flag("keepdim");
  if (call.has("dim")) {
    Tensor wide = withAxis(x);
    Tensor found = function(wide, call.axis("dim", wide.rank()), keeps);
    call.give(withoutAxis(found, x));
    return;
  }
  Tensor found = function(flat(x), 0, false);
  call.give(keeps ? reshape(found, Dims(size_t(x.rank()), Dim(1))) : found);
}

/// The lower of two in the middle, as PyTorch has it.
static void medianAllRule(Call &call) {
  call.give(median(flat(call.tensor("self")), 0).values);
}

//===- Variances ----------------------------------------------------------===//

static double correctionOf(Call &call) {
  if (call.has("unbiased"))
    return call.flag("unbiased") ? 1 : 0;
  return call.real("correction", 1);
}

static void varRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(var(x, axesOf(call, x), correctionOf(call), call.flag("keepdim")));
}
static void stdRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(sinter::std(x, axesOf(call, x), correctionOf(call),
                        call.flag("keepdim")));
}

template <bool isRoot> static void varMeanRule(Call &call) {
  Tensor x = call.tensor("self");
  auto [variance, middle] =
      var_mean(x, axesOf(call, x), correctionOf(call), call.flag("keepdim"));
  call.give(isRoot ? sqrt(variance) : variance);
  call.give(middle);
}

//===- Norms --------------------------------------------------------------===//

static Tensor normOf(const Tensor &x, double p, const Axes &axes, bool keeps) {
  if (isFloat(x.dtype()))
    return norm(x, p, axes, keeps);
  return norm(abs(x), p, axes, keeps);
}

static void vectorNormRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.has("dtype"))
    x = x.to(*call.dtype("dtype"));
  call.give(
      normOf(x, call.real("ord", 2), axesOf(call, x), call.flag("keepdim")));
}

static void normRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.has("dtype"))
    x = x.to(*call.dtype("dtype"));
  call.give(
      normOf(x, call.real("p", 2), axesOf(call, x), call.flag("keepdim")));
}

static void distRule(Call &call) {
  Tensor difference = call.tensor("self") - call.tensor("other");
  call.give(normOf(difference, call.real("p", 2), {}, false));
}

/// Distances of the rows i < j.
static void pdistRule(Call &call) {
  Tensor x = call.tensor("self");
  if (x.rank() != 2)
    call.invalid("rows of a tensor of rank " + std::to_string(x.rank()));
  int64_t rows = fixed(x.dim(0));
  requireFew(call, rows, "rows");
  requireFew(call, rows * (rows - 1) / 2, "pairs of rows");
  std::vector<int64_t> left, right;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i + 1; j < rows; ++j) {
      left.push_back(i);
      right.push_back(j);
    }
  if (left.empty()) {
    call.give(zeros({0}, {x.dtype(), x.device()}));
    return;
  }
  Options options{DType::i64, x.device()};
  auto taken = [&](const std::vector<int64_t> &places) {
    return index_select(
        x, tensor(places, {Dim(int64_t(places.size()))}, options), 0);
  };
  call.give(norm(taken(left) - taken(right), call.real("p", 2), 1));
}

static void cosineRule(Call &call) {
  Tensor left = call.tensor("x1");
  call.give(cosine_similarity(left, call.tensor("x2"), call.integer("dim", 1),
                              call.real("eps", 1e-8)));
}

static void pairwiseRule(Call &call) {
  PairwiseDistanceOptions options{call.real("p", 2), call.real("eps", 1e-6),
                                  call.flag("keepdim")};
  call.give(pairwise_distance(call.tensor("x1"), call.tensor("x2"), options));
}

/// Slices whose norm is larger than what is allowed, brought to that norm.
static void renormRule(Call &call) {
  Tensor x = call.tensor("self");
  if (x.rank() < 2)
    call.invalid("slices of a tensor of rank " + std::to_string(x.rank()));
  int64_t axis = call.axis("dim", x.rank());
  std::vector<int64_t> others;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != axis)
      others.push_back(i);
  double most = call.real("maxnorm");
  Tensor size =
      others.empty() ? abs(x) : norm(x, call.real("p"), Axes(others), true);
  Tensor factor = where(size > most, most / (size + 1e-7), ones_like(size));
  call.give(x * factor);
}

static void logsumexpRule(Call &call) {
  Tensor x = call.tensor("self").to(call.outputDType());
  call.give(logsumexp(x, axesOf(call, x), call.flag("keepdim")));
}

//===- Quantiles and differences ------------------------------------------===//

/// Between two elements of the sorted line.
static Tensor quantileAt(const Tensor &sorted, int64_t axis, double place) {
  double below = std::floor(place);
  Tensor low = narrow(sorted, axis, int64_t(below), Dim(1));
  if (place == below)
    return low;
  Tensor high = narrow(sorted, axis, int64_t(below) + 1, Dim(1));
  return lerp(low, high, place - below);
}

static void quantileRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.text("interpolation", "linear") != "linear")
    call.unsupported("interpolation '" + call.text("interpolation", "") + "'");
  bool hasAxis = call.has("dim"), keeps = call.flag("keepdim");
  Tensor line = hasAxis ? withAxis(x) : flat(x);
  int64_t axis = hasAxis ? call.axis("dim", line.rank()) : 0;
  double q = call.real("q");
  if (!(q >= 0 && q <= 1))
    call.invalid("a quantile of " + std::to_string(q));
  auto last = double(fixed(line.dim(axis)) - 1);
  if (last < 0)
    call.invalid("a quantile of no elements");
  Tensor found = quantileAt(sort(line, axis).values, axis, q * last);
  if (!keeps)
    found = hasAxis ? squeeze(found, axis) : reshape(found, {});
  else if (!hasAxis)
    found = reshape(found, Dims(size_t(x.rank()), Dim(1)));
  call.give(found);
}

/// Several of a line at once: their axis comes first.
static void quantilesRule(Call &call) {
  Tensor x = call.tensor("self"), q = call.tensor("q").to(x.dtype());
  if (call.text("interpolation", "linear") != "linear")
    call.unsupported("interpolation '" + call.text("interpolation", "") + "'");
  if (q.rank() > 1)
    call.invalid("quantiles of rank " + std::to_string(q.rank()));
  bool hasAxis = call.has("dim"), keeps = call.flag("keepdim");
  Tensor line = hasAxis ? withAxis(x) : flat(x);
  int64_t axis = hasAxis ? call.axis("dim", line.rank()) : 0;
  auto last = double(fixed(line.dim(axis)) - 1);
  if (last < 0)
    call.invalid("a quantile of no elements");
  Tensor place = clamp(reshape(q, {-1}), 0.0, 1.0) * last;
  Tensor sorted = sort(line, axis).values;
  auto taken = [&](const Tensor &at) {
    return index_select(sorted, at.to(DType::i64), axis);
  };
  Tensor low = taken(floor(place)), high = taken(ceil(place));
  Tensor part = alongAxis(place - floor(place), axis, line.rank());
  Tensor found = where(part == 0.0, low, lerp(low, high, part));
  Tensor none = full({}, std::numeric_limits<double>::quiet_NaN(),
                     {x.dtype(), x.device()});
  found = where(any(isnan(line), axis, true), none, found);
  found = movedim(found, axis, 0);
  Dims shape = found.shape();
  if (keeps && !hasAxis)
    shape.resize(size_t(x.rank()) + 1, Dim(1));
  else if (keeps && x.rank() > 0)
    shape.insert(shape.begin() + axis + 1, Dim(1));
  if (q.rank() == 0)
    shape.erase(shape.begin());
  call.give(reshape(found, shape));
}

static void diffRule(Call &call) {
  Tensor x = call.tensor("self");
  int64_t axis = call.axis("dim", x.rank(), -1), times = call.integer("n", 1);
  Tensor before = call.has("prepend") ? call.tensor("prepend") : Tensor();
  Tensor after = call.has("append") ? call.tensor("append") : Tensor();
  if (times > 0 && before.defined())
    x = concat({before, x}, axis);
  if (times > 0 && after.defined())
    x = concat({x, after}, axis);
  if (x.rank() == 0)
    call.invalid("a tensor without axes");
  constexpr int64_t mostTimes = 1024;
  requireFew(call, times, "differences of differences", mostTimes);
  for (int64_t i = 0; i < times; ++i) {
    Dim size = x.dim(axis);
    if (size.value < 1)
      break;
    Tensor upper = sliceAxis(x, axis, 1, size);
    Tensor lower = sliceAxis(x, axis, 0, size - Dim(1));
    x = x.dtype() == DType::boolean ? logical_xor(upper, lower) : upper - lower;
  }
  call.give(x);
}

static void histcRule(Call &call) {
  Tensor x = call.tensor("self");
  double least = call.real("min", 0), most = call.real("max", 0);
  int64_t bins = call.integer("bins", 100);
  requireFew(call, bins, "bins");
  if (least != most || bins == 0) {
    call.give(histc(x, bins, least, most));
    return;
  }
  // The range is that of the elements; one of no width is two wide.
  Tensor line = flat(x.to(call.outputDType()));
  Tensor low = amin(line), high = amax(line);
  Tensor more = (low == high).to(line.dtype());
  low = low - more;
  high = high + more;
  Tensor place = floor((line - low) * double(bins) / (high - low));
  Tensor bin = clamp(place, 0.0, double(bins - 1)).to(DType::i64);
  Tensor none = zeros({bins}, {line.dtype(), line.device()});
  call.give(scatter_add(none, bin, ones_like(line), 0));
}

static void bincountRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor counts = bincount(x, call.integer("minlength", 0));
  if (!call.has("weights")) {
    call.give(counts);
    return;
  }
  DType dtype = call.outputDType();
  Tensor weights = call.tensor("weights").to(dtype);
  call.give(scatter_add(zeros(counts.shape(), {dtype, x.device()}),
                        x.to(DType::i64), weights, 0));
}

static constexpr Operator rows[] = {
    {"aten.sum.default", sumRule},
    {"aten.sum.dim_IntList", sumRule},
    {"aten.nansum.default", nansumRule},
    {"aten.mean.default", meanRule},
    {"aten.mean.dim", meanRule},
    {"aten.nanmean.default", nanmeanRule},
    {"aten.prod.default", prodRule},
    {"aten.prod.dim_int", prodRule},
    {"aten.any.default", truthRule<any>},
    {"aten.any.dim", truthRule<any>},
    {"aten.any.dims", truthRule<any>},
    {"aten.all.default", truthRule<all>},
    {"aten.all.dim", truthRule<all>},
    {"aten.all.dims", truthRule<all>},
    {"aten.count_nonzero.default", countRule},
    {"aten.count_nonzero.dim_IntList", countRule},
    {"aten.trace.default", traceRule},
    {"aten.amax.default", extremeRule<amax>},
    {"aten.amin.default", extremeRule<amin>},
    {"aten.max.default", extremeRule<amax>},
    {"aten.min.default", extremeRule<amin>},
    {"aten.aminmax.default", aminmaxRule},
    {"aten.max.dim", extremesRule<max>},
    {"aten.min.dim", extremesRule<min>},
    {"aten.median.dim", extremesRule<median>},
    {"aten.median.default", medianAllRule},
    {"aten.argmax.default", positionRule<argmax>},
    {"aten.argmin.default", positionRule<argmin>},
    {"aten.var.default", varRule},
    {"aten.var.dim", varRule},
    {"aten.var.correction", varRule},
    {"aten.std.default", stdRule},
    {"aten.std.dim", stdRule},
    {"aten.std.correction", stdRule},
    {"aten.var_mean.default", varMeanRule<false>},
    {"aten.var_mean.dim", varMeanRule<false>},
    {"aten.var_mean.correction", varMeanRule<false>},
    {"aten.std_mean.default", varMeanRule<true>},
    {"aten.std_mean.dim", varMeanRule<true>},
    {"aten.std_mean.correction", varMeanRule<true>},
    {"aten.linalg_vector_norm.default", vectorNormRule},
    {"aten.norm.Scalar", normRule},
    {"aten.norm.ScalarOpt_dim", normRule},
    {"aten.norm.ScalarOpt_dtype", normRule},
    {"aten.norm.ScalarOpt_dim_dtype", normRule},
    {"aten.dist.default", distRule},
    {"aten._pdist_forward.default", pdistRule},
    {"aten.cosine_similarity.default", cosineRule},
    {"aten.pairwise_distance.default", pairwiseRule},
    {"aten.renorm.default", renormRule},
    {"aten.logsumexp.default", logsumexpRule},
    {"aten.quantile.scalar", quantileRule},
    {"aten.quantile.default", quantilesRule},
    {"aten.diff.default", diffRule},
    {"aten.histc.default", histcRule},
    {"aten.bincount.default", bincountRule},
};

std::span<const Operator> reductionRows() { return rows; }

} // namespace sinter::torch
