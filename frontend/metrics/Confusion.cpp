/// The confusion matrix, and accuracy among the largest scores.
#include "frontend/metrics/MetricCall.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>
#include <limits>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- TopKAccuracy -------------------------------------------------------===//

TopKAccuracy::TopKAccuracy(int64_t k, const TopKOptions &given, Where where) try
    : k(k), described{fmt::format("top{}", k), "%", true, 2},
      hits("hits", {}, DType::i64), items("items", {}, DType::i64),
      wrong("wrong", {}, DType::i64) {
  options.classes = given.classes;
  options.ignore_index = given.ignore_index;
  options.class_axis = given.class_axis;
  if (!given.name.empty())
    described.name = given.name;
  checkOptions(described.name, options, where);
  if (k < 1 || k > options.classes)
    MetricCall(described.name, where)
        .fail(fmt::format("k is {}, not in 1..{}", k, options.classes));
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void TopKAccuracy::update(const ClassInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Decisions made = readTargets(call, options, input);
  if (!isFloat(input.scores.dtype()))
    call.fail("scores are no floats: " +
              graph::typeString(*input.scores.node()));
  int64_t axis = classAxis(call, options, input);
  if (made.isEmpty)
    return;
  finish(made);
  // How many scores come before the target's: nothing is sorted.
  Tensor scores = call.real(input.scores, "scores");
  Tensor target = unsqueeze(made.actual, axis);
  Tensor place = iota(scores.shape(), axis, {.device = scores.device()});
  Tensor own = sum(sinter::where(place == target, scores, 0.f), {axis}, true);
  Tensor isBefore =
      isnan(scores) || scores > own || (scores == own && place < target);
  Tensor rank = sum(isBefore, {axis});
  Tensor isHit = rank < k && !isnan(squeeze(own, {axis}));
  hits.add(sum(made.valid && isHit), where);
  items.add(sum(made.valid), where);
  wrong.add(made.wrong, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double TopKAccuracy::value() const try {
  refuseWrong(described.name, wrong, options);
  double count = items.value();
  return count == 0 ? nan : hits.value() / count;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void TopKAccuracy::reset() {
  for (State *state : states())
    state->reset();
}

//===- ConfusionMatrix ----------------------------------------------------===//

ConfusionMatrix::ConfusionMatrix(const ClassOptions &given, Where where) try
    : options(given), described{"confusion", "%", true, 2} {
  if (!options.name.empty())
    described.name = options.name;
  checkOptions(described.name, options, where);
  if (options.task == Task::multilabel)
    MetricCall(described.name, where)
        .fail("labels have no common matrix: take one of each, binary");
  int64_t size = options.task == Task::binary ? 2 : options.classes;
  counts = State("counts", {size * size}, DType::i64);
  wrong = State("wrong", {}, DType::i64);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void ConfusionMatrix::update(const ClassInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Decisions made = decide(call, options, input);
  if (made.isEmpty)
    return;
  int64_t size = options.task == Task::binary ? 2 : options.classes;
  // What takes no part adds 0 to the first place.
  Tensor cell =
      made.actual.to(DType::i64) * size + made.predicted.to(DType::i64);
  Tensor place = flatten(sinter::where(made.valid, cell, int64_t(0)));
  Tensor one = flatten(made.valid).to(DType::i64);
  counts.set(scatter_add(counts.tensor(place.device(), where), place, one, 0),
             where);
  wrong.add(made.wrong, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

std::vector<int64_t> ConfusionMatrix::matrix() const try {
  refuseWrong(described.name, wrong, options);
  std::vector<double> all = counts.values();
  return std::vector<int64_t>(all.begin(), all.end());
} catch (...) {
  sinter::detail::raiseExhausted({});
}

double ConfusionMatrix::value() const {
  std::vector<int64_t> all = matrix();
  int64_t size = options.task == Task::binary ? 2 : options.classes;
  double right = 0, items = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    items += double(all[i]);
    if (int64_t(i) / size == int64_t(i) % size)
      right += double(all[i]);
  }
  return items == 0 ? nan : right / items;
}

std::vector<Value> ConfusionMatrix::values() const {
  std::vector<int64_t> all = matrix();
  int64_t size = options.task == Task::binary ? 2 : options.classes;
  std::vector<Value> named;
  for (int64_t i = 0; i < size * size; ++i)
    named.push_back(
        {fmt::format("{}.{}.{}", described.name, i / size, i % size),
         double(all[size_t(i)])});
  return named;
}

void ConfusionMatrix::reset() {
  counts.reset();
  wrong.reset();
}

} // namespace sinter::metrics
