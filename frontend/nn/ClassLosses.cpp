/// Losses of classes: scores with labels or probabilities.
#include "frontend/nn/LossCall.h"

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/Creation.h>

#include <algorithm>

namespace sinter {

using detail::LossCall;

namespace {

/// Labels as they are used: what is ignored is found, and class 0 to gather.
struct Labels {
  Tensor classes; ///< [n, space...]
  Tensor counts;  ///< of the same shape, whether each takes part; or empty
};

} // namespace

/// The axis of the classes.
static int64_t classAxis(const LossCall &call, const Tensor &x) {
  if (x.rank() == 0)
    call.fail("the input has no axis of classes", {x});
  return x.rank() == 1 ? 0 : 1;
}

static void checkLabels(const LossCall &call, const Tensor &x,
                        const Tensor &labels) {
  Dims expected = x.shape();
  expected.erase(expected.begin() + classAxis(call, x));
  if (!std::ranges::equal(labels.shape(), expected, {}, &Dim::value,
                          &Dim::value))
    call.fail("the target has neither the input's shape nor that without its "
              "classes",
              {x, labels});
}

static void checkWeight(const LossCall &call, const Tensor &x,
                        const Tensor &weight) {
  if (weight.defined() &&
      (weight.rank() != 1 ||
       weight.dim(0).value != x.dim(classAxis(call, x)).value))
    call.fail("the weights are not one for each class", {x, weight});
}

static Labels labelsOf(const Tensor &target, std::optional<int64_t> ignored) {
  if (!ignored)
    return {target, {}};
  Tensor isIgnored = target == *ignored;
  return {where(isIgnored, 0, target), target != *ignored};
}

/// x at the labels.
static Tensor pick(const Tensor &x, const Tensor &labels, int64_t axis) {
  return squeeze(gather(x, unsqueeze(labels, axis), axis), axis);
}

/// The weight of each label that takes part, 0 for the others; empty when all
/// count alike.
static Tensor weightsAt(const LossCall &call, const Tensor &weight,
                        const Labels &labels) {
  Tensor picked;
  if (weight.defined()) {
    Tensor flat = reshape(labels.classes, {-1});
    picked = reshape(index_select(weight, flat, 0), labels.classes.shape());
  }
  if (!labels.counts.defined())
    return picked;
  return picked.defined() ? where(labels.counts, picked, 0.0)
                          : labels.counts.to(call.compute());
}

/// A loss of labels: the mean is by their weights.
static Tensor weighted(const LossCall &call, const Tensor &losses,
                       const Tensor &weights, Reduction reduction) {
  if (!weights.defined() || reduction != Reduction::mean)
    return call.reduced(losses, reduction);
  return call.done(sum(losses) / sum(weights));
}

//===- nll_loss -----------------------------------------------------------===//

/// -x at the labels, by their weights.
static Tensor lossesAt(const Tensor &x, const Labels &labels,
                       const Tensor &weights, int64_t axis) {
  Tensor losses = -pick(x, labels.classes, axis);
  return weights.defined() ? losses * weights : losses;
}

Tensor nll_loss(const Arg &input, const Arg &target,
                const NllLossOptions &options) try {
  LossCall call("nll_loss", {&input});
  Tensor x = call.real(input), labels = call.index(target, "labels");
  Tensor weight = call.given(options.weight);
  checkLabels(call, x, labels);
  checkWeight(call, x, weight);
  Labels used = labelsOf(labels, options.ignore_index);
  Tensor weights = weightsAt(call, weight, used);
  return weighted(call, lossesAt(x, used, weights, classAxis(call, x)), weights,
                  options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

//===- cross_entropy ------------------------------------------------------===//

/// A value for each class, along its axis of x.
static Tensor alongClasses(const Tensor &weight, const Tensor &x,
                           int64_t axis) {
  Dims shape(x.rank(), Dim(1));
  shape[axis] = weight.dim(0);
  return reshape(weight, shape);
}

/// The sum over all classes of -x, by their weights.
static Tensor lossesOfAll(const Tensor &x, const Tensor &weight, int64_t axis) {
  return -sum(weight.defined() ? x * alongClasses(weight, x, axis) : x, axis);
}

static Tensor byProbabilities(const LossCall &call, const Tensor &logits,
                              const Tensor &target,
                              const CrossEntropyOptions &options) {
  int64_t axis = classAxis(call, logits);
  Tensor x = log_softmax(logits, axis);
  Tensor weight = call.given(options.weight);
  checkWeight(call, x, weight);
  double shared = options.label_smoothing;
  Tensor wanted = target;
  if (shared != 0)
    wanted = wanted * (1 - shared) + shared / double(x.dim(axis).value);
  return call.reduced(lossesOfAll(x * wanted, weight, axis), options.reduction);
}

static Tensor byLabels(const LossCall &call, const Tensor &logits,
                       const Tensor &target,
                       const CrossEntropyOptions &options) {
  int64_t axis = classAxis(call, logits);
  Tensor weight = call.given(options.weight);
  checkLabels(call, logits, target);
  checkWeight(call, logits, weight);
  Tensor x = log_softmax(logits, axis);
  Labels labels = labelsOf(target, options.ignore_index);
  Tensor weights = weightsAt(call, weight, labels);
  Tensor losses = lossesAt(x, labels, weights, axis);
  if (double shared = options.label_smoothing; shared != 0) {
    Tensor all = lossesOfAll(x, weight, axis);
    if (labels.counts.defined())
      all = where(labels.counts, all, 0.0);
    losses = losses * (1 - shared) + all * (shared / double(x.dim(axis).value));
  }
  return weighted(call, losses, weights, options.reduction);
}

/// What the op of that name computes.
static bool isPlain(const Tensor &logits, const Tensor &target,
                    const CrossEntropyOptions &options) {
  return logits.rank() == 2 && target.rank() == 1 && !options.weight &&
         !options.ignore_index && options.label_smoothing == 0 &&
         options.reduction == Reduction::mean;
}

Tensor cross_entropy(const Arg &input, const Arg &target,
                     const CrossEntropyOptions &options) try {
  LossCall call("cross_entropy", {&input});
  detail::Arguments("cross_entropy", input.where)
      .within("label_smoothing", options.label_smoothing, 0, 1);
  bool hasProbabilities =
      target.isTensor() && !target.isEmpty() && isFloat(target.node()->dtype());
  Tensor x = call.real(input);
  if (hasProbabilities) {
    Tensor wanted = call.real(target);
    call.sameShapes({x, wanted});
    if (options.ignore_index)
      call.fail("probabilities have no ignore_index", {x, wanted});
    return byProbabilities(call, x, wanted, options);
  }
  Tensor labels = call.index(target, "labels");
  if (isPlain(x, labels, options))
    return cross_entropy(input, labels);
  return byLabels(call, x, labels, options);
} catch (...) {
  detail::raiseExhausted(input.where);
}

//===- multi_margin_loss --------------------------------------------------===//

Tensor multi_margin_loss(const Arg &input, const Arg &target,
                         const MultiMarginOptions &options) try {
  LossCall call("multi_margin_loss", {&input});
  Tensor x = call.real(input), labels = call.index(target, "labels");
  Tensor weight = call.given(options.weight);
  if (options.p != 1 && options.p != 2)
    call.fail("p is neither 1 nor 2");
  if (x.rank() > 2)
    call.fail("expects [n, classes] and [n]", {x, labels});
  checkLabels(call, x, labels);
  checkWeight(call, x, weight);
  int64_t axis = classAxis(call, x);
  Tensor own = gather(x, unsqueeze(labels, axis), axis);
  Tensor over = relu(x - own + options.margin);
  if (options.p == 2)
    over = square(over);
  Tensor isOwn = iota(x.shape(), axis, {DType::i64, x.device()}) ==
                 unsqueeze(labels, axis).to(DType::i64);
  Tensor losses = mean(where(isOwn, 0.0, over), axis);
  if (Tensor weights = weightsAt(call, weight, {labels, {}}); weights.defined())
    losses = losses * weights;
  return call.reduced(losses, options.reduction);
} catch (...) {
  detail::raiseExhausted(input.where);
}

} // namespace sinter
