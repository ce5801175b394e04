/// Schedulers: the learning rate of each step, and their state in files.
#include <sinter/optim/Scheduler.h>

#include "frontend/Raise.h"
#include "runtime/params/Safetensors.h"

#include <sinter/Arguments.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace sinter::optim {

//===- Files --------------------------------------------------------------===//

static constexpr const char *kindKey = "sinter.scheduler";

/// Writes the numbers as one tensor of f64, exactly.
static void writeState(const std::string &file, const std::string &kind,
                       const std::vector<double> &state,
                       const SourceLine &where) {
  std::vector<runtime::NamedTensor> tensors{
      {"state",
       DType::f64,
       {static_cast<int64_t>(state.size())},
       std::as_bytes(std::span(state))}};
  detail::unwrap(runtime::writeSafetensors(file, tensors, {{kindKey, kind}}),
                 where);
}

/// Reads as many numbers as `state` has.
static std::vector<double> readState(const std::string &file,
                                     const std::string &kind, size_t count,
                                     const SourceLine &where) {
  auto opened = detail::unwrap(runtime::SafetensorsFile::open(file), where);
  const runtime::NamedTensor *tensor = opened.find("state");
  auto key = std::ranges::find(opened.metadata(), kindKey,
                               &std::pair<std::string, std::string>::first);
  bool fits = tensor && tensor->dtype == DType::f64 &&
              tensor->data.size() == count * sizeof(double) &&
              key != opened.metadata().end() && key->second == kind;
  if (!fits)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("load: {} is no state of {}", file, kind),
                  "load"),
        where);
  std::vector<double> state(count);
  std::memcpy(state.data(), tensor->data.data(), tensor->data.size());
  return state;
}

//===- Scheduler ----------------------------------------------------------===//

Scheduler::Scheduler(Optimizer &optimizer, Schedule schedule) try
    : optimizer(optimizer), schedule(std::move(schedule)),
      base(optimizer.lr()) {
  optimizer.set_lr(this->schedule(base, 0));
} catch (...) {
  detail::raiseExhausted({});
}

void Scheduler::step() try {
  ++done;
  optimizer.set_lr(schedule(base, done));
} catch (...) {
  detail::raiseExhausted({});
}

void Scheduler::save(const std::string &file, Where where) const try {
  writeState(file, schedule.name(), {base, static_cast<double>(done)}, where);
} catch (...) {
  detail::raiseExhausted(where);
}

void Scheduler::load(const std::string &file, Where where) try {
  std::vector<double> state = readState(file, schedule.name(), 2, where);
  base = state[0];
  done = static_cast<int64_t>(state[1]);
  optimizer.set_lr(schedule(base, done));
} catch (...) {
  detail::raiseExhausted(where);
}

//===- ReduceLROnPlateau --------------------------------------------------===//

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer &optimizer,
                                     const PlateauOptions &options,
                                     Where where) try
    : optimizer(optimizer), options(options),
      best(std::numeric_limits<double>::infinity() *
           (options.mode == PlateauMode::min ? 1 : -1)) {
  detail::Arguments("reduce_lr_on_plateau", where)
      .partBelowOne("factor", options.factor)
      .atLeast(0, "patience", options.patience)
      .notNegative("threshold", options.threshold)
      .atLeast(0, "cooldown", options.cooldown)
      .notNegative("min_lr", options.min_lr)
      .notNegative("eps", options.eps);
} catch (...) {
  detail::raiseExhausted(where);
}

bool ReduceLROnPlateau::isBetter(double metric) const try {
  double sign = options.mode == PlateauMode::min ? -1 : 1;
  double least = options.threshold_mode == ThresholdMode::rel
                     ? best * (1 + sign * options.threshold)
                     : best + sign * options.threshold;
  return options.mode == PlateauMode::min ? metric < least : metric > least;
} catch (...) {
  detail::raiseExhausted({});
}

void ReduceLROnPlateau::step(double metric) try {
  if (isBetter(metric)) {
    best = metric;
    bad = 0;
  } else {
    ++bad;
  }
  if (cooling > 0) {
    --cooling;
    bad = 0;
  }
  if (bad <= options.patience)
    return;
  bad = 0;
  cooling = options.cooldown;
  double reduced = std::max(optimizer.lr() * options.factor, options.min_lr);
  if (optimizer.lr() - reduced > options.eps)
    optimizer.set_lr(reduced);
} catch (...) {
  detail::raiseExhausted({});
}

void ReduceLROnPlateau::save(const std::string &file, Where where) const try {
  writeState(file, "reduce_lr_on_plateau",
             {optimizer.lr(), best, static_cast<double>(bad),
              static_cast<double>(cooling)},
             where);
} catch (...) {
  detail::raiseExhausted(where);
}

void ReduceLROnPlateau::load(const std::string &file, Where where) try {
  std::vector<double> state = readState(file, "reduce_lr_on_plateau", 4, where);
  optimizer.set_lr(state[0]);
  best = state[1];
  bad = static_cast<int64_t>(state[2]);
  cooling = static_cast<int64_t>(state[3]);
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::optim
