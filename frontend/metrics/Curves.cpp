/// Areas under curves of thresholds.
#include "frontend/metrics/MetricCall.h"

#include "frontend/ElementwiseFunctions.h"
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/metrics/Curves.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace sinter::metrics {

using Level = CurveMetric::Level;
using Range = CurveMetric::Range;

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- Areas --------------------------------------------------------------===//

static Level totals(const std::vector<Level> &levels) {
  Level all;
  for (const Level &level : levels) {
    all.positives += level.positives;
    all.negatives += level.negatives;
  }
  return all;
}

Range Auroc::area(const std::vector<Level> &levels) const {
  Level all = totals(levels);
  double pairs = all.positives * all.negatives;
  double won = 0, equal = 0, above = 0;
  for (const Level &level : levels) {
    // Positives so far have greater scores than the negatives here.
    won += above * level.negatives;
    equal += level.positives * level.negatives;
    above += level.positives;
  }
  return {won / pairs, (won + equal / 2) / pairs, (won + equal) / pairs};
}

/// What `count` positives add that come one by one, behind `before` negatives
/// of their level.
static double precisions(double positives, double negatives, double count,
                         double before) {
  double sum = 0;
  for (int64_t i = 1, last = static_cast<int64_t>(count); i <= last; ++i) {
    double found = positives + static_cast<double>(i);
    sum += found / (found + negatives + before);
  }
  return sum;
}

Range AveragePrecision::area(const std::vector<Level> &levels) const {
  Range sums{0, 0, 0};
  double positives = 0, negatives = 0;
  for (const auto &[isTrue, isFalse] : levels) {
    if (isTrue > 0) {
      double all = positives + isTrue + negatives + isFalse;
      sums.middle += isTrue * (positives + isTrue) / all;
      sums.least += precisions(positives, negatives, isTrue, isFalse);
      sums.greatest += precisions(positives, negatives, isTrue, 0);
    }
    positives += isTrue;
    negatives += isFalse;
  }
  return {sums.least / positives, sums.middle / positives,
          sums.greatest / positives};
}

// What stands in place of 0 and 1 where a score is kept.
static constexpr int64_t keptOut = 2, keptNan = 3;

//===- Updates ------------------------------------------------------------===//

CurveMetric::CurveMetric(MetricInfo info, const CurveOptions &given,
                         Where where) try
    : options(given), described(std::move(info)) {
  if (!options.name.empty())
    described.name = options.name;
  ClassOptions as{.task = options.task, .classes = options.classes};
  checkOptions(described.name, as, where);
  MetricCall call(described.name, where);
  if (options.average != Average::macro && options.average != Average::none)
    call.fail("the average is neither macro nor none");
  constexpr int64_t mostBins = int64_t(1) << 24;
  if (options.bins < 0 || options.bins == 1 || options.bins > mostBins)
    call.fail(fmt::format("bins is {}, neither 0 nor in 2..{}", options.bins,
                          mostBins));
  Dims shape{numClasses() * options.bins};
  positives = State("positives", shape, DType::i64);
  negatives = State("negatives", shape, DType::i64);
  wrong = State("wrong", {}, DType::i64);
  noNumber = State("nan", {}, DType::i64);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

int64_t CurveMetric::numClasses() const {
  return options.task == Task::binary ? 1 : options.classes;
}

/// [items, classes], whatever the axes before.
static Tensor inRows(const Tensor &tensor, int64_t axis, int64_t classes) {
  return reshape(movedim(tensor, axis, -1), {-1, classes});
}

void CurveMetric::update(const ClassInput &given, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  ClassOptions as{.task = options.task,
                  .classes = options.classes,
                  .ignore_index = options.ignore_index,
                  .class_axis = options.class_axis};
  ClassInput input = given;
  call.require(input.scores, "scores");
  call.require(input.targets, "targets");
  if (!isFloat(input.scores.dtype()))
    call.fail("scores are no floats: " +
              graph::typeString(*input.scores.node()));
  if (options.task == Task::binary) {
    input.scores = flatten(input.scores);
    input.targets = flatten(input.targets);
    if (input.mask.defined())
      input.mask = flatten(input.mask);
    call.sameShape(input.scores, "scores", input.targets, "targets");
  }
  Decisions made = readTargets(call, as, input);
  bool isMulticlass = options.task == Task::multiclass;
  int64_t axis = options.task == Task::binary ? 0 : classAxis(call, as, input);
  if (made.isEmpty)
    return;
  finish(made);
  Tensor scores = call.real(input.scores, "scores");
  if (options.from_logits)
    scores = isMulticlass ? softmax(scores, axis) : sigmoid(scores);
  wrong.add(made.wrong, where);
  Tensor isClass = made.actual, valid = made.valid;
  if (options.task == Task::binary) {
    scores = unsqueeze(scores, 1);
    isClass = unsqueeze(isClass, 1);
    valid = unsqueeze(valid, 1);
  } else {
    scores = inRows(scores, axis, options.classes);
    if (isMulticlass) {
      isClass = unsqueeze(flatten(isClass), 1) ==
                arange(options.classes, {.device = isClass.device()});
      valid = unsqueeze(flatten(valid), 1) && full_like(isClass, true);
    } else {
      isClass = inRows(isClass, axis, options.classes);
      valid = inRows(valid, axis, options.classes);
    }
  }
  options.bins ? count(scores, isClass, valid, where)
               : keep(scores, isClass, valid, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

/// Adds to histograms [classes, bins] of positives and negatives.
void CurveMetric::count(const Tensor &scores, const Tensor &isClass,
                        const Tensor &valid, Where where) {
  DeviceId device = scores.device();
  Tensor isNumber = !isnan(scores);
  noNumber.add(sum(valid && !isNumber), where);
  Tensor bin = clamp(floor(sinter::where(isNumber, scores, 0.f) *
                           static_cast<float>(options.bins)),
                     int64_t(0), options.bins - 1)
                   .to(DType::i64);
  Tensor first = arange(numClasses(), {.device = device}) * options.bins;
  Tensor place = flatten(bin + first);
  Tensor taken = valid && isNumber;
  auto addTo = [&](State &state, const Tensor &isCounted) {
    Tensor one = flatten(isCounted).to(DType::i64);
    state.set(scatter_add(state.tensor(device, where), place, one, 0), where);
  };
  addTo(positives, taken && isClass);
  addTo(negatives, taken && !isClass);
}

/// Keeps the scores of a batch, and for each whether it is of its class, takes
/// no part, or is no number: so that both are computed together. A state of its
/// own for each batch: it is made in the program of its step, and none grows.
void CurveMetric::keep(const Tensor &scores, const Tensor &isClass,
                       const Tensor &valid, Where where) {
  // The batch before is done now if nothing else asked for it.
  if (!batches.empty())
    batches.back().scores.tensor(scores.device(), where);
  Dims shape{scores.dim(0).value, numClasses()};
  Batch batch{State("scores", shape), State("targets", shape, DType::u8)};
  batch.scores.begin(scores, where);
  batch.targets.begin(sinter::where(valid,
                                    sinter::where(isnan(scores), keptNan,
                                                  isClass.to(DType::i64)),
                                    keptOut),
                      where);
  batches.push_back(std::move(batch));
}

void CurveMetric::reset() {
  positives.reset();
  negatives.reset();
  wrong.reset();
  noNumber.reset();
  batches.clear();
}

//===- Values -------------------------------------------------------------===//

std::vector<std::vector<Level>> CurveMetric::keptLevels() const {
  size_t classes = static_cast<size_t>(numClasses());
  std::vector<std::vector<std::pair<double, bool>>> items(classes);
  std::vector<bool> hasNan(classes);
  for (const Batch &batch : batches) {
    std::vector<double> scores = batch.scores.values();
    std::vector<double> targets = batch.targets.values();
    for (size_t i = 0; i < scores.size(); ++i) {
      if (targets[i] == keptOut)
        continue;
      if (targets[i] == keptNan)
        hasNan[i % classes] = true;
      items[i % classes].emplace_back(scores[i], targets[i] == 1);
    }
  }
  std::vector<std::vector<Level>> all(classes);
  for (size_t c = 0; c < classes; ++c) {
    if (hasNan[c]) // no order: no value
      continue;
    std::sort(items[c].begin(), items[c].end(), std::greater<>());
    for (size_t i = 0; i < items[c].size(); ++i) {
      if (i == 0 || items[c][i].first != items[c][i - 1].first)
        all[c].emplace_back();
      Level &level = all[c].back();
      ++(items[c][i].second ? level.positives : level.negatives);
    }
  }
  return all;
}

std::vector<std::vector<Level>> CurveMetric::levels() const {
  refuseWrong(described.name, wrong,
              {.task = options.task, .classes = options.classes});
  if (options.bins == 0)
    return keptLevels();
  if (double count = noNumber.value(); count > 0)
    MetricCall(described.name, Where())
        .fail(fmt::format("{} scores are NaN", static_cast<int64_t>(count)));
  std::vector<double> isTrue = positives.values();
  std::vector<double> isFalse = negatives.values();
  size_t bins = static_cast<size_t>(options.bins);
  std::vector<std::vector<Level>> all(static_cast<size_t>(numClasses()));
  for (size_t c = 0; c < all.size(); ++c)
    for (size_t bin = bins; bin-- > 0;)
      if (size_t at = c * bins + bin; isTrue[at] + isFalse[at] > 0)
        all[c].push_back({isTrue[at], isFalse[at]});
  return all;
}

std::vector<Range> CurveMetric::ranges() const {
  std::vector<Range> all;
  for (const std::vector<Level> &each : levels()) {
    Level sum = totals(each);
    bool isDefined = sum.positives > 0 && sum.negatives > 0;
    Range range = isDefined ? area(each) : Range{nan, nan, nan};
    if (options.bins == 0)
      range.least = range.greatest = range.middle;
    all.push_back(range);
  }
  return all;
}

double CurveMetric::value() const try {
  double sum = 0, count = 0;
  for (const Range &range : ranges())
    if (!std::isnan(range.middle)) {
      sum += range.middle;
      ++count;
    }
  return count == 0 ? nan : sum / count;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

double CurveMetric::bound() const try {
  double sum = 0, count = 0;
  for (const Range &range : ranges())
    if (!std::isnan(range.middle)) {
      sum +=
          std::max(range.greatest - range.middle, range.middle - range.least);
      ++count;
    }
  return count == 0 ? 0 : sum / count;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

std::vector<Value> CurveMetric::values() const try {
  if (options.average == Average::macro || options.task == Task::binary)
    return {{described.name, value()}};
  std::vector<Value> named;
  std::vector<Range> all = ranges();
  for (size_t c = 0; c < all.size(); ++c)
    named.push_back({fmt::format("{}.{}", described.name, c), all[c].middle});
  return named;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

//===- What is kept -------------------------------------------------------===//

std::vector<State *> CurveMetric::states() const {
  std::vector<State *> all{&wrong};
  if (options.bins) {
    all.push_back(&positives);
    all.push_back(&negatives);
    all.push_back(&noNumber);
  }
  for (Batch &batch : batches) {
    all.push_back(&batch.scores);
    all.push_back(&batch.targets);
  }
  return all;
}

StateMap CurveMetric::state() const try {
  if (options.bins)
    return detail::savedStates(states(), Where());
  StateMap all = detail::savedStates({&wrong}, Where());
  if (batches.empty())
    return all;
  std::vector<float> scores;
  std::vector<uint8_t> targets;
  for (const Batch &batch : batches) {
    for (double score : batch.scores.values())
      scores.push_back(static_cast<float>(score));
    for (double target : batch.targets.values())
      targets.push_back(static_cast<uint8_t>(target));
  }
  Dims shape{static_cast<int64_t>(scores.size()) / numClasses(), numClasses()};
  all["scores"] = tensor(scores, shape);
  all["targets"] = tensor(targets, shape);
  return all;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void CurveMetric::load_state(const StateMap &from) try {
  if (options.bins)
    return detail::loadStates(states(), from, Where());
  StateMap rest = from;
  Tensor scores, targets;
  if (auto part = rest.extract("scores"))
    scores = part.mapped();
  if (auto part = rest.extract("targets"))
    targets = part.mapped();
  MetricCall call(described.name, Where());
  std::vector<Batch> loaded;
  if (scores.defined() != targets.defined())
    call.fail("load_state: there are scores or targets alone");
  if (scores.defined()) {
    if (scores.rank() != 2 || scores.dim(1).value != numClasses())
      call.fail("load_state: scores are of other classes: " +
                graph::typeString(*scores.node()));
    Dims shape{scores.dim(0).value, numClasses()};
    loaded.push_back(
        {State("scores", shape), State("targets", shape, DType::u8)});
    loaded.back().scores.load(scores);
    loaded.back().targets.load(targets);
  }
  detail::loadStates({&wrong}, rest, Where());
  batches = std::move(loaded);
} catch (...) {
  sinter::detail::raiseExhausted({});
}

} // namespace sinter::metrics
