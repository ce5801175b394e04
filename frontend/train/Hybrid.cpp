/// Which step a hybrid trainer makes, and what the default prediction is.
#include <sinter/train/Hybrid.h>

#include "frontend/Raise.h"

#include <sinter/Arguments.h>
#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

#include <cmath>
#include <numeric>

namespace sinter::train {

using sinter::detail::raise;
using sinter::detail::raiseExhausted;

std::string_view to_string(Phase phase) {
  switch (phase) {
  case Phase::warmup:
    return "warmup";
  case Phase::full:
    return "full";
  case Phase::predict:
    return "predict";
  case Phase::correct:
    return "correct";
  }
  return {};
}

HybridOptimizer::HybridOptimizer(std::unique_ptr<optim::Optimizer> optimizer,
                                 Where where)
    : own(std::move(optimizer)) {
  if (!own)
    raise(makeError(ErrorKind::invalid_argument,
                    "HybridOptimizer: there is no optimizer",
                    "HybridOptimizer"),
          where);
}

Tensor extrapolate_linearly(std::span<const Tensor> deltas) try {
  Tensor sum = deltas[0];
  for (const Tensor &delta : deltas.subspan(1))
    sum = sum + delta;
  return sum * (1.0 / static_cast<double>(deltas.size()));
} catch (...) {
  raiseExhausted({});
}

namespace detail {

HybridPlan::HybridPlan(const HybridSchedule &given, DeltaPredictor predictor,
                       std::source_location where)
    : schedule(given), predictor(std::move(predictor)) {
  sinter::detail::Arguments("HybridTrainer", where)
      .atLeast(0, "warmup", schedule.warmup)
      .atLeast(1, "full", schedule.full)
      .atLeast(0, "predict", schedule.predict)
      .atLeast(0, "correct", schedule.correct)
      .atLeast(1, "history", schedule.history)
      .aboveZero("worst_loss", schedule.worst_loss);
  if (!this->predictor)
    raise(makeError(ErrorKind::invalid_argument,
                    "HybridTrainer: the predictor is empty", "HybridTrainer"),
          where);
  skipEmpty();
}

int64_t HybridPlan::lengthOf(Phase phase) const {
  switch (phase) {
  case Phase::warmup:
    return schedule.warmup;
  case Phase::full:
    return schedule.full;
  case Phase::predict:
    return schedule.predict;
  case Phase::correct:
    return schedule.correct;
  }
  return 0;
}

/// Phases of no steps are gone through; `full` has one.
void HybridPlan::skipEmpty() {
  while (inPhase >= lengthOf(now)) {
    now = now == Phase::correct ? Phase::full
                                : Phase(static_cast<uint8_t>(now) + 1);
    inPhase = 0;
    if (now == Phase::full) {
      deltas.clear();
      lossSum = 0;
      lossCount = 0;
    }
  }
}

void HybridPlan::advance() {
  ++taken;
  ++inPhase;
  skipEmpty();
}

bool HybridPlan::wantsDelta() const {
  return now == Phase::full && schedule.predict > 0 &&
         inPhase >= schedule.full - schedule.history;
}

void HybridPlan::noteFull(double loss, const Tensor &before,
                          const Tensor &after, std::source_location where) try {
  if (after.defined())
    deltas.push_back((after - before).eval(where));
  if (now == Phase::full) {
    lossSum += loss;
    ++lossCount;
  }
  advance();
} catch (...) {
  raiseExhausted(where);
}

Tensor HybridPlan::predict(double loss, std::source_location where) try {
  double mean = lossCount ? lossSum / static_cast<double>(lossCount) : 0;
  // A loss that is no number is no good one either.
  bool isGood = loss <= schedule.worst_loss * mean;
  Tensor delta;
  if (isGood && !deltas.empty()) {
    delta = predictor(deltas);
    if (!delta.defined() || delta.rank() != 1 ||
        delta.numel() != deltas[0].numel())
      raise(makeError(ErrorKind::invalid_argument,
                      fmt::format("HybridTrainer: the predictor gave {}, the "
                                  "weights are {}",
                                  delta.defined()
                                      ? graph::typeString(*delta.node())
                                      : "an empty tensor",
                                  graph::typeString(*deltas[0].node())),
                      "HybridTrainer"),
            where);
  } else {
    inPhase = schedule.predict - 1;
  }
  advance();
  return delta;
} catch (...) {
  raiseExhausted(where);
}

} // namespace detail
} // namespace sinter::train
