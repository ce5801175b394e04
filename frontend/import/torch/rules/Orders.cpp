/// Order, running sums, and places in sorted sequences.
#include "frontend/import/torch/rules/Rules.h"

#include "frontend/ElementwiseFunctions.h"

#include <sinter/generated/functions/Folds.h>

namespace sinter::torch {

/// Bools are bytes meanwhile; a tensor without axes is a vector of one.
static Tensor sortable(const Tensor &x) {
  Tensor wide = x.rank() == 0 ? reshape(x, {1}) : x;
  return wide.dtype() == DType::boolean ? wide.to(DType::u8) : wide;
}

static Tensor restored(const Tensor &y, const Tensor &x) {
  return x.rank() == 0 ? reshape(y, {}) : y;
}

//===- Sorting ------------------------------------------------------------===//

/// Equal elements always keep their order here.
static Sorted sortedOf(Call &call, const Tensor &x) {
  call.ignore({"stable"});
  Tensor wide = sortable(x);
  return sort(wide, call.axis("dim", wide.rank(), -1), call.flag("descending"));
}

static void sortRule(Call &call) {
  Tensor x = call.tensor("self");
  Sorted sorted = sortedOf(call, x);
  call.give(restored(sorted.values.to(x.dtype()), x));
  call.give(restored(sorted.indices, x));
}

static void argsortRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(restored(sortedOf(call, x).indices, x));
}

static void msortRule(Call &call) {
  Tensor x = call.tensor("self");
  call.give(restored(sort(sortable(x), 0).values.to(x.dtype()), x));
}

static void topkRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor wide = sortable(x);
  Sorted found =
      topk(wide, call.integer("k"), call.axis("dim", wide.rank(), -1),
           call.flag("largest", true), call.flag("sorted", true));
  call.give(restored(found.values.to(x.dtype()), x));
  call.give(restored(found.indices, x));
}

static void kthRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor wide = sortable(x);
  int64_t axis = call.axis("dim", wide.rank(), -1), k = call.integer("k");
  if (k < 1 || k > wide.dim(axis).value)
    call.invalid("element " + std::to_string(k) + " of an axis of " +
                 std::to_string(wide.dim(axis).value));
  Sorted sorted = sort(wide, axis);
  bool keeps = call.flag("keepdim");
  auto taken = [&](const Tensor &all) {
    Tensor one = narrow(all, axis, k - 1, Dim(1));
    return x.rank() == 0 ? reshape(one, {}) : keeps ? one : squeeze(one, axis);
  };
  call.give(taken(sorted.values.to(x.dtype())));
  call.give(taken(sorted.indices));
}

//===- Running results ----------------------------------------------------===//

template <Tensor (*function)(const Arg &, int64_t, bool)>
static void runningRule(Call &call) {
  call.ignore({"dtype"});
  Tensor x = call.tensor("self").to(call.outputDType());
  int64_t axis = call.axis("dim", x.rank());
  // Sums of narrow integers are wider than the file wants them.
  call.give((x.rank() == 0 ? x : function(x, axis, false)).to(x.dtype()));
}

template <Extremes (*function)(const Arg &, int64_t)>
static void runningExtremesRule(Call &call) {
  Tensor x = call.tensor("self");
  Tensor wide = sortable(x);
  Extremes found = function(wide, call.axis("dim", wide.rank()));
  call.give(restored(found.values.to(x.dtype()), x));
  call.give(restored(found.indices, x));
}

//===- Places -------------------------------------------------------------===//

static void givePlaces(Call &call, const Tensor &sequence,
                       const Tensor &values) {
  std::string side = call.text("side", "");
  if (!side.empty() && side != "left" && side != "right")
    call.invalid("side '" + side + "'");
  bool isRight = call.flag("right") || side == "right";
  call.ignore({"out_int32"});
  DType dtype = promote(sequence.dtype(), values.dtype());
  Tensor line = values.rank() == 0 ? reshape(values, {1}) : values;
  Tensor found = searchsorted(sequence.to(dtype), line.to(dtype), isRight);
  call.give(restored(found, values).to(call.outputDType()));
}

static void searchsortedRule(Call &call) {
  Tensor sequence = call.tensor("sorted_sequence");
  if (call.has("sorter"))
    sequence = gather(sequence, call.tensor("sorter"), sequence.rank() - 1);
  const Value &values = call.value("self");
  givePlaces(call, sequence, asTensor(call, values, promoted({&values})));
}

static void bucketizeRule(Call &call) {
  const Value &values = call.value("self");
  givePlaces(call, call.tensor("boundaries"),
             asTensor(call, values, promoted({&values})));
}

//===- What is there once -------------------------------------------------===//

/// Values, where each element went, and how often each is there.
static void uniqueRule(Call &call) {
  Tensor x = call.tensor("self");
  std::optional<int64_t> axis;
  if (call.has("dim"))
    axis = call.axis("dim", x.rank());
  bool isBool = x.dtype() == DType::boolean;
  UniqueElements found =
      unique(isBool ? x.to(DType::u8) : x, axis, call.flag("sorted", true));
  // What is not asked for has no size in the file.
  bool wantsInverse = call.flag("return_inverse"),
       wantsCounts = call.flag("return_counts");
  call.give(found.values.to(x.dtype()));
  call.give(wantsInverse ? Value(found.inverse) : Value());
  call.give(wantsCounts ? Value(found.counts) : Value());
}

/// Runs of equal elements: each starts where one differs from that before.
static void runsRule(Call &call) {
  Tensor x = call.tensor("self");
  if (call.has("dim"))
    call.unsupported("runs of slices");
  Dims shape = x.shape();
  Tensor line = reshape(x, {-1});
  int64_t count = fixed(line.dim(0));
  if (count == 0)
    call.unsupported("runs of no elements");
  Tensor differs =
      sliceAxis(line, 0, 1, count) != sliceAxis(line, 0, 0, count - 1);
  Tensor first = ones({1}, {DType::i64, x.device()}) != 0;
  Tensor starts = concat({first, differs}, 0);
  Tensor places = reshape(nonzero(starts), {-1});
  Dim runs = places.dim(0);
  bool wantsInverse = call.flag("return_inverse"),
       wantsCounts = call.flag("return_counts");
  call.give(index_select(sortable(line), places, 0).to(x.dtype()));
  Tensor inverse = cumsum(starts.to(DType::i64), 0) - 1;
  call.give(wantsInverse ? Value(reshape(inverse, shape)) : Value());
  Tensor ends = concat({sliceAxis(places, 0, 1, runs),
                        full({1}, count, {DType::i64, x.device()})},
                       0);
  call.give(wantsCounts ? Value(ends - places) : Value());
}

/// The median of those that are numbers: NaN stand behind them in order.
static void nanmedianRule(Call &call) {
  Tensor x = call.tensor("self");
  bool hasAxis = call.has("dim"), keeps = call.flag("keepdim");
  Tensor line = hasAxis && x.rank() > 0 ? x : reshape(x, {-1});
  int64_t axis = hasAxis ? call.axis("dim", line.rank()) : 0;
  Sorted sorted = sort(line, axis);
  Tensor numbers = sum((line == line).to(DType::i64), axis, true);
  Tensor middle = floor_divide(clamp(numbers - 1, 0, line.dim(axis).value), 2);
  auto taken = [&](const Tensor &all) {
    Tensor one = gather(all, middle, axis);
    if (!hasAxis || x.rank() == 0)
      return reshape(one, {});
    return keeps ? one : squeeze(one, axis);
  };
  call.give(taken(sorted.values));
  if (hasAxis)
    call.give(taken(sorted.indices));
}

/// The element that is there most often, the least of several; and where it
/// stands last.
static void modeRule(Call &call) {
  Tensor x = call.tensor("self");
  bool keeps = call.flag("keepdim");
  Tensor wide = sortable(x);
  int64_t axis = call.axis("dim", wide.rank(), -1), last = wide.rank() - 1;
  Sorted sorted = sort(swapaxes(wide, axis, last), last);
  Tensor line = sorted.values;
  Tensor counts =
      searchsorted(line, line, true) - searchsorted(line, line, false);
  Tensor first = argmax(counts, last, true);
  Tensor end = first + gather(counts, first, last) - 1;
  auto shaped = [&](const Tensor &found) {
    Tensor one = swapaxes(found, axis, last);
    return x.rank() == 0 ? reshape(one, {}) : keeps ? one : squeeze(one, axis);
  };
  call.give(shaped(gather(line, first, last)).to(x.dtype()));
  call.give(shaped(gather(sorted.indices, end, last)));
}

static constexpr Operator rows[] = {
    {"aten.sort.default", sortRule},
    {"aten.sort.stable", sortRule},
    {"aten.argsort.default", argsortRule},
    {"aten.argsort.stable", argsortRule},
    {"aten.msort.default", msortRule},
    {"aten.topk.default", topkRule},
    {"aten.kthvalue.default", kthRule},
    {"aten.cumsum.default", runningRule<cumsum>},
    {"aten.cumprod.default", runningRule<cumprod>},
    {"aten.logcumsumexp.default", runningRule<logcumsumexp>},
    {"aten.cummax.default", runningExtremesRule<cummax>},
    {"aten.cummin.default", runningExtremesRule<cummin>},
    {"aten.searchsorted.Tensor", searchsortedRule},
    {"aten.searchsorted.Scalar", searchsortedRule},
    {"aten.bucketize.Tensor", bucketizeRule},
    {"aten.bucketize.Scalar", bucketizeRule},
    {"aten._unique2.default", uniqueRule},
    {"aten._unique.default", uniqueRule},
    {"aten.unique_dim.default", uniqueRule},
    {"aten.unique_consecutive.default", runsRule},
    {"aten.mode.default", modeRule},
    {"aten.nanmedian.default", nanmedianRule},
    {"aten.nanmedian.dim", nanmedianRule},
};

std::span<const Operator> orderRows() { return rows; }

} // namespace sinter::torch
