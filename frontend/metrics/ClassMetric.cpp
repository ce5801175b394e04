/// Metrics that are ratios of counts of decisions.
#include "frontend/metrics/MetricCall.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <fmt/format.h>
#include <limits>
#include <numeric>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

static double divide(double a, double b) { return b == 0 ? 0 : a / b; }

//===- Counting -----------------------------------------------------------===//

/// Whether the classes are counted one by one.
static bool countsClasses(const ClassOptions &options, Average average) {
  return options.task != Task::binary && average != Average::micro;
}

ClassMetric::ClassMetric(MetricInfo info, const ClassOptions &given,
                         Average usual, Where where) try
    : options(given), average(given.average.value_or(usual)),
      described(std::move(info)) {
  if (!options.name.empty())
    described.name = options.name;
  checkOptions(described.name, options, where);
  if (options.task == Task::binary)
    options.classes = 1;
  bool areApart = countsClasses(options, average);
  Dims each = areApart ? Dims{options.classes} : Dims{};
  hits = State("hits", each, DType::i64);
  predicted = State("predicted", each, DType::i64);
  actual = State("actual", each, DType::i64);
  items = State("items", options.task == Task::multilabel ? each : Dims{},
                DType::i64);
  wrong = State("wrong", {}, DType::i64);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

/// How often each class stands where `counts` holds: classes of any shape.
static Tensor countEach(const Tensor &classes, const Tensor &counts,
                        int64_t number) {
  Tensor all = arange(number, {.device = classes.device()});
  Tensor isClass = unsqueeze(flatten(classes), 1) == all;
  return sum(isClass && unsqueeze(flatten(counts), 1), {0});
}

/// All axes but that of labels, where these are counted one by one.
static Axes axesBeside(const Tensor &tensor, int64_t axis) {
  std::vector<int64_t> others;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (i != axis)
      others.push_back(i);
  return Axes(others);
}

void ClassMetric::update(const ClassInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Decisions made = decide(call, options, input);
  if (made.isEmpty)
    return;
  bool areApart = countsClasses(options, average);
  wrong.add(made.wrong, where);
  if (options.task == Task::multiclass) {
    Tensor isHit = made.valid && made.predicted == made.actual;
    items.add(sum(made.valid), where);
    if (!areApart) {
      hits.add(sum(isHit), where);
      return;
    }
    hits.add(countEach(made.actual, isHit, options.classes), where);
    actual.add(countEach(made.actual, made.valid, options.classes), where);
    predicted.add(countEach(made.predicted, made.valid, options.classes),
                  where);
    return;
  }
  Axes others;
  if (areApart)
    others = axesBeside(made.valid, options.class_axis < 0
                                        ? options.class_axis + made.valid.rank()
                                        : options.class_axis);
  Tensor isPredicted = made.valid && made.predicted;
  items.add(sum(made.valid, others), where);
  predicted.add(sum(isPredicted, others), where);
  actual.add(sum(made.valid && made.actual, others), where);
  hits.add(sum(isPredicted && made.actual, others), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void ClassMetric::reset() {
  for (State *state : states())
    state->reset();
}

/// Only what the task counts.
std::vector<State *> ClassMetric::states() const {
  if (options.task == Task::multiclass && !countsClasses(options, average))
    return {&hits, &items, &wrong};
  return {&hits, &predicted, &actual, &items, &wrong};
}

//===- Values -------------------------------------------------------------===//

ClassCounts ClassMetric::counts() const {
  refuseWrong(described.name, wrong, options);
  ClassCounts all{hits.values(), predicted.values(), actual.values(),
                  items.values()};
  if (options.task == Task::multiclass && !countsClasses(options, average))
    all.predicted = all.actual = all.items;
  return all;
}

std::vector<double> ClassMetric::perClass(const ClassCounts &counts) const {
  std::vector<double> all;
  for (size_t i = 0; i < counts.hits.size(); ++i) {
    double each = counts.items[counts.items.size() == 1 ? 0 : i];
    all.push_back(
        ratio(counts.hits[i], counts.predicted[i], counts.actual[i], each));
  }
  return all;
}

double ClassMetric::value() const try {
  ClassCounts all = counts();
  if (std::accumulate(all.items.begin(), all.items.end(), 0.0) == 0)
    return nan;
  std::vector<double> each = perClass(all);
  double sum = 0, weights = 0;
  for (size_t i = 0; i < each.size(); ++i) {
    bool isAbsent = all.predicted[i] == 0 && all.actual[i] == 0;
    double weight = average == Average::weighted && each.size() > 1
                        ? all.actual[i]
                        : double(options.task != Task::multiclass || !isAbsent);
    sum += each[i] * weight;
    weights += weight;
  }
  return divide(sum, weights);
} catch (...) {
  sinter::detail::raiseExhausted({});
}

std::vector<Value> ClassMetric::values() const try {
  if (average != Average::none || options.task == Task::binary)
    return {{described.name, value()}};
  ClassCounts all = counts();
  std::vector<double> each = perClass(all);
  bool isEmpty = std::accumulate(all.items.begin(), all.items.end(), 0.0) == 0;
  std::vector<Value> named;
  for (size_t i = 0; i < each.size(); ++i)
    named.push_back(
        {fmt::format("{}.{}", described.name, i), isEmpty ? nan : each[i]});
  return named;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

//===- Ratios -------------------------------------------------------------===//

double Accuracy::ratio(double hits, double predicted, double actual,
                       double items) const {
  if (options.task == Task::multiclass)
    return divide(hits, actual);
  return divide(items - predicted - actual + 2 * hits, items);
}

double Precision::ratio(double hits, double predicted, double, double) const {
  return divide(hits, predicted);
}

double Recall::ratio(double hits, double, double actual, double) const {
  return divide(hits, actual);
}

static std::string nameOfFBeta(double beta) { return fmt::format("f{}", beta); }

FBeta::FBeta(double beta, const ClassOptions &options, Where where)
    : ClassMetric({nameOfFBeta(beta), "", true}, options, Average::macro,
                  where),
      beta(beta) {
  if (!(beta > 0 && beta < std::numeric_limits<double>::infinity()))
    MetricCall("f_beta", where).fail(fmt::format("beta is {}", beta));
}

double FBeta::ratio(double hits, double predicted, double actual,
                    double) const {
  double square = beta * beta;
  return divide((1 + square) * hits, square * actual + predicted);
}

double HammingDistance::ratio(double hits, double predicted, double actual,
                              double items) const {
  if (options.task == Task::multiclass)
    return 1 - divide(hits, actual);
  return 1 - divide(items - predicted - actual + 2 * hits, items);
}

double Dice::ratio(double hits, double predicted, double actual, double) const {
  return divide(2 * hits, predicted + actual);
}

double Iou::ratio(double hits, double predicted, double actual, double) const {
  return divide(hits, predicted + actual - hits);
}

} // namespace sinter::metrics
