/// Metrics of numbers.
#include <sinter/metrics/Regression.h>

#include "frontend/metrics/MetricCall.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace sinter::metrics {

static constexpr double nan = std::numeric_limits<double>::quiet_NaN();

//===- Losses -------------------------------------------------------------===//

MeanLoss::MeanLoss(std::string name)
    : described{std::move(name), "", false}, sum("sum"),
      items("items", {}, DType::i64) {}

void MeanLoss::update(const LossInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Tensor loss = call.real(input.loss, "loss");
  if (loss.numel() == 0)
    return;
  if (!input.items.defined()) {
    Tensor total = sinter::sum(loss);
    sum.add(total, where);
    items.add(count_beside(count_items(loss), total), where);
    return;
  }
  if (loss.numel() != 1 || input.items.numel() != 1)
    call.fail("the mean loss and its number of items are no numbers: " +
              graph::typeString(*loss.node()) + " and " +
              graph::typeString(*input.items.node()));
  Tensor count = reshape(input.items, {});
  // Of no items there is no mean.
  Tensor part =
      sinter::where(count > 0, reshape(loss, {}) * count.to(DType::f32), 0.f);
  sum.add(part, where);
  items.add(count_beside(count, part), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double MeanLoss::value() const try {
  double count = items.value();
  return count == 0 ? nan : sum.value() / count;
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void MeanLoss::reset() {
  sum.reset();
  items.reset();
}

//===- Perplexity ---------------------------------------------------------===//

Perplexity::Perplexity(const PerplexityOptions &given)
    : options(given), described{given.name, "", false}, sum("sum"),
      items("items", {}, DType::i64), wrong("wrong", {}, DType::i64) {}

void Perplexity::update(const ClassInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  call.require(input.scores, "logits");
  int64_t rank = input.scores.rank();
  int64_t axis = options.class_axis + (options.class_axis < 0 ? rank : 0);
  if (axis < 0 || axis >= rank || !isFloat(input.scores.dtype()))
    call.fail("logits are no floats with a class axis: " +
              graph::typeString(*input.scores.node()));
  ClassOptions as{.classes = input.scores.dim(axis).value,
                  .ignore_index = options.ignore_index,
                  .class_axis = axis};
  Decisions made = readTargets(call, as, input);
  classAxis(call, as, input);
  if (made.isEmpty)
    return;
  finish(made);
  classes = as.classes;
  Tensor logits = call.real(input.scores, "logits");
  Tensor most = amax(logits, {axis}, true);
  Tensor place = iota(logits.shape(), axis, {.device = logits.device()});
  Tensor isTarget = place == unsqueeze(made.actual, axis);
  Tensor own = sinter::sum(sinter::where(isTarget, logits - most, 0.f), {axis});
  Tensor all = log(sinter::sum(exp(logits - most), {axis}));
  sum.add(sinter::sum(sinter::where(made.valid, all - own, 0.f)), where);
  items.add(sinter::sum(made.valid), where);
  wrong.add(made.wrong, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double Perplexity::value() const try {
  refuseWrong(described.name, wrong, {.classes = classes});
  double count = items.value();
  return count == 0 ? nan : std::exp(sum.value() / count);
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void Perplexity::reset() {
  sum.reset();
  items.reset();
  wrong.reset();
}

//===- Errors -------------------------------------------------------------===//

ErrorMetric::ErrorMetric(MetricInfo info)
    : described(std::move(info)), sum("sum"), items("items", {}, DType::i64) {}

void ErrorMetric::update(const NumberInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Tensor x = call.real(input.predictions, "predictions");
  Tensor t = call.real(input.targets, "targets");
  call.sameShape(x, "predictions", t, "targets");
  if (x.numel() == 0)
    return;
  Tensor mask = call.flags(input.mask, t);
  Tensor terms = term(x - t);
  if (mask.defined())
    terms = sinter::where(mask, terms, 0.f);
  Tensor total = sinter::sum(terms);
  sum.add(total, where);
  items.add(count_beside(count_items(t, mask), total), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double ErrorMetric::value() const try {
  double count = items.value();
  return count == 0 ? nan : of_mean(sum.value() / count);
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void ErrorMetric::reset() {
  sum.reset();
  items.reset();
}

Tensor MeanSquaredError::term(const Tensor &error) const {
  return square(error);
}

double RootMeanSquaredError::of_mean(double mean) const {
  return std::sqrt(mean);
}

Tensor MeanAbsoluteError::term(const Tensor &error) const { return abs(error); }

Psnr::Psnr(double range, std::string name, Where where)
    : MeanSquaredError(MetricInfo{std::move(name), "dB", true, 2}),
      range(range) {
  if (!(range > 0 && std::isfinite(range)))
    MetricCall("psnr", where).fail(fmt::format("range is {}", range));
}

double Psnr::of_mean(double mean) const {
  return 10 * std::log10(range * range / mean);
}

//===- R2 -----------------------------------------------------------------===//

R2Score::R2Score(int64_t outputs, std::string name, Where where) try
    : outputs(outputs), described{std::move(name), "", true},
      errors("errors", {std::max<int64_t>(outputs, 1)}),
      mean("mean", {std::max<int64_t>(outputs, 1)}),
      spread("spread", {std::max<int64_t>(outputs, 1)}),
      items("items", {std::max<int64_t>(outputs, 1)}, DType::i64) {
  if (outputs < 1)
    MetricCall(described.name, where)
        .fail(fmt::format("outputs is {}, not 1 or more", outputs));
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

/// Means and spreads of batches are joined as Chan, Golub and LeVeque do
/// (1979): no large sums are subtracted.
void R2Score::update(const NumberInput &input, Where where) try {
  UpdateScope scope(where);
  MetricCall call(described.name, where);
  Tensor x = call.real(input.predictions, "predictions");
  Tensor t = call.real(input.targets, "targets");
  call.sameShape(x, "predictions", t, "targets");
  Tensor mask = call.flags(input.mask, t);
  if (outputs > 1 && (t.rank() < 1 || t.dim(-1).value != outputs))
    call.fail(fmt::format("targets have not {} outputs: {}", outputs,
                          graph::typeString(*t.node())));
  if (t.numel() == 0)
    return;
  x = reshape(x, {-1, outputs});
  t = reshape(t, {-1, outputs});
  Tensor taken =
      mask.defined() ? reshape(mask, {-1, outputs}) : full_like(t, 1.f) > 0.f;
  auto total = [&](const Tensor &terms) {
    return sinter::sum(sinter::where(taken, terms, 0.f), {0});
  };
  DeviceId device = t.device();
  Tensor earlier = items.tensor(device, where), more = sinter::sum(taken, {0});
  Tensor before = earlier.to(DType::f32), count = more.to(DType::f32);
  Tensor batchMean = total(t) / maximum(count, 1.f);
  Tensor batchSpread = total(square(t - batchMean));
  Tensor part = count / maximum((earlier + more).to(DType::f32), 1.f);
  Tensor old = mean.tensor(device, where);
  Tensor apart = batchMean - old;
  spread.set(spread.tensor(device, where) + batchSpread +
                 square(apart) * before * part,
             where);
  mean.set(old + apart * part, where);
  items.set(earlier + more, where);
  errors.add(total(square(x - t)), where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double R2Score::value() const try {
  std::vector<double> residual = errors.values(), squares = spread.values();
  std::vector<double> counts = items.values();
  double sum = 0;
  for (size_t i = 0; i < residual.size(); ++i) {
    if (counts[i] < 2)
      return nan;
    bool isEqual = squares[i] == 0;
    // As scikit-learn: a perfect prediction of what never changes is 1.
    double each =
        isEqual ? double(residual[i] == 0) : 1 - residual[i] / squares[i];
    sum += each;
  }
  return sum / static_cast<double>(residual.size());
} catch (...) {
  sinter::detail::raiseExhausted({});
}

void R2Score::reset() {
  errors.reset();
  mean.reset();
  spread.reset();
  items.reset();
}

} // namespace sinter::metrics
