/// What updates of metrics check and share.
#include "frontend/metrics/MetricCall.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

namespace sinter::metrics {

void MetricCall::fail(const std::string &what) const {
  sinter::detail::raise(makeError(ErrorKind::invalid_argument,
                                  std::string(name) + ": " + what,
                                  std::string(name)),
                        where);
}

void MetricCall::require(const Tensor &tensor,
                         std::string_view argument) const {
  if (!tensor.defined())
    fail(fmt::format("{} is empty", argument));
}

static std::string typeOf(const Tensor &tensor) {
  return graph::typeString(*tensor.node());
}

void MetricCall::sameShape(const Tensor &a, std::string_view nameOfA,
                           const Tensor &b, std::string_view nameOfB) const {
  bool isSame = a.rank() == b.rank();
  for (int64_t i = 0; isSame && i < a.rank(); ++i)
    isSame = a.dim(i).value == b.dim(i).value;
  if (!isSame)
    fail(fmt::format("{} and {} differ in shape: {} and {}", nameOfA, nameOfB,
                     typeOf(a), typeOf(b)));
}

Tensor MetricCall::real(const Tensor &tensor, std::string_view argument) const {
  require(tensor, argument);
  DType type = tensor.dtype();
  if (type == DType::f32)
    return tensor;
  if (!isComputable(type))
    fail(fmt::format("{} is no tensor of numbers: {}", argument,
                     typeOf(tensor)));
  return tensor.to(DType::f32);
}

Tensor MetricCall::flags(const Tensor &mask, const Tensor &targets) const {
  if (!mask.defined())
    return {};
  sameShape(mask, "mask", targets, "targets");
  return mask.dtype() == DType::boolean ? mask : mask != 0;
}

static std::string describe(const ClassInput &input) {
  return typeOf(input.scores) + " and " + typeOf(input.targets);
}

int64_t classAxis(const MetricCall &call, const ClassOptions &options,
                  const ClassInput &input) {
  int64_t rank = input.scores.rank();
  int64_t axis = options.class_axis + (options.class_axis < 0 ? rank : 0);
  if (axis < 0 || axis >= rank)
    call.fail(fmt::format("scores have no axis {}: {}", options.class_axis,
                          describe(input)));
  if (input.scores.dim(axis).value != options.classes)
    call.fail(fmt::format("scores are not of {} classes along axis {}: {}",
                          options.classes, axis, describe(input)));
  bool fits =
      options.task != Task::multiclass || input.targets.rank() == rank - 1;
  for (int64_t i = 0; fits && i < input.targets.rank(); ++i) {
    int64_t other = options.task == Task::multiclass && i >= axis ? i + 1 : i;
    fits = input.targets.dim(i).value == input.scores.dim(other).value;
  }
  if (!fits)
    call.fail("scores and targets do not fit: " + describe(input));
  return axis;
}

/// Whether scores are predictions already.
static bool arePredictions(const Tensor &scores) {
  return !isFloat(scores.dtype());
}

/// Scores of a binary task without an axis of size 1 at the end.
static Tensor binaryScores(const ClassInput &input) {
  const Tensor &scores = input.scores;
  bool isColumn =
      scores.rank() == input.targets.rank() + 1 && scores.dim(-1).value == 1;
  return isColumn ? squeeze(scores, {scores.rank() - 1}) : scores;
}

Decisions readTargets(const MetricCall &call, const ClassOptions &options,
                      const ClassInput &input) {
  call.require(input.scores, "scores");
  call.require(input.targets, "targets");
  const Tensor &targets = input.targets;
  bool isMulticlass = options.task == Task::multiclass;
  if (!isComputable(targets.dtype()) ||
      (isMulticlass && isFloat(targets.dtype())))
    call.fail(fmt::format("targets are no {}: {}",
                          isMulticlass ? "integers" : "numbers",
                          typeOf(targets)));
  if (targets.device() != input.scores.device())
    call.fail("scores and targets are on different devices: " +
              toString(input.scores.device()) + " and " +
              toString(targets.device()));
  Decisions made;
  made.isEmpty = targets.numel() == 0;
  bool isBool = targets.dtype() == DType::boolean;
  Tensor keep = call.flags(input.mask, targets);
  if (options.ignore_index && !isBool) {
    Tensor kept = targets.to(DType::i64) != *options.ignore_index;
    keep = keep.defined() ? keep && kept : kept;
  }
  Tensor isClass;
  if (isMulticlass) {
    made.actual = targets.to(DType::i64);
    isClass = made.actual >= 0 && made.actual < options.classes;
  } else {
    made.actual = isBool ? targets : targets != 0;
    isClass = isBool ? full_like(targets, true) : targets == 0 || targets == 1;
  }
  made.keep = keep;
  made.isClass = isClass;
  return made;
}

void finish(Decisions &made, const Tensor &also) {
  Tensor keep = made.keep;
  if (also.defined())
    keep = keep.defined() ? keep && also : also;
  made.valid = keep.defined() ? keep && made.isClass : made.isClass;
  made.wrong = sum(keep.defined() ? keep && !made.isClass : !made.isClass);
}

Decisions decide(const MetricCall &call, const ClassOptions &options,
                 const ClassInput &given) {
  ClassInput input = given;
  call.require(input.scores, "scores");
  call.require(input.targets, "targets");
  if (!isComputable(input.scores.dtype()))
    call.fail("scores are no numbers: " + describe(input));
  if (options.task == Task::binary)
    input.scores = binaryScores(input);
  Decisions made = readTargets(call, options, input);
  if (options.task == Task::multiclass) {
    bool areClasses = arePredictions(input.scores) &&
                      input.scores.rank() == input.targets.rank();
    if (areClasses) {
      call.sameShape(input.scores, "predictions", input.targets, "targets");
      made.predicted = input.scores.to(DType::i64);
      made.isClass = made.isClass && made.predicted >= 0 &&
                     made.predicted < options.classes;
      finish(made);
      return made;
    }
    int64_t axis = classAxis(call, options, input);
    made.predicted = argmax(input.scores, axis);
    // Always so; behind the prediction one kernel adds up all.
    finish(made, made.predicted >= 0);
    return made;
  }
  call.sameShape(input.scores, "scores", input.targets, "targets");
  if (options.task == Task::multilabel)
    classAxis(call, options, input);
  finish(made);
  if (arePredictions(input.scores)) {
    made.predicted = input.scores.dtype() == DType::boolean ? input.scores
                                                            : input.scores != 0;
    return made;
  }
  Tensor scores = call.real(input.scores, "scores");
  made.predicted =
      (options.from_logits ? sigmoid(scores) : scores) > options.threshold;
  return made;
}

void refuseWrong(const std::string &name, const State &wrong,
                 const ClassOptions &options) {
  double count = wrong.value();
  if (count == 0)
    return;
  std::string last = options.task == Task::multiclass
                         ? std::to_string(options.classes - 1)
                         : "1";
  sinter::detail::raise(
      makeError(ErrorKind::invalid_argument,
                fmt::format("{}: {} targets or predictions are not in 0..{}",
                            name, static_cast<int64_t>(count), last),
                name),
      std::source_location());
}

void checkOptions(std::string_view name, const ClassOptions &options,
                  const std::source_location &where) {
  MetricCall call(name, where);
  int64_t least = options.task == Task::multiclass   ? 2
                  : options.task == Task::multilabel ? 1
                                                     : 0;
  if (options.classes < least)
    call.fail(
        fmt::format("classes is {}, not {} or more", options.classes, least));
  if (!(options.threshold >= 0 && options.threshold <= 1))
    call.fail(fmt::format("threshold is {}, not in 0..1", options.threshold));
}

} // namespace sinter::metrics
