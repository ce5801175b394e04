/// The metrics of a training.
#include <sinter/metrics/MetricSet.h>

#include "frontend/Raise.h"

#include <sinter/runtime/Log.h>

#include <cmath>
#include <fmt/format.h>

namespace sinter::metrics {

//===- MetricInfo ---------------------------------------------------------===//

std::string MetricInfo::format(double value) const {
  bool isPercent = unit == "%";
  std::string text =
      fmt::format("{:.{}f}", isPercent ? value * 100 : value, digits);
  return unit.empty() ? text : text + " " + unit;
}

bool MetricInfo::is_better(double value, double other) const {
  if (!higher_is_better || std::isnan(value))
    return false;
  if (std::isnan(other))
    return true;
  return *higher_is_better ? value > other : value < other;
}

//===- States -------------------------------------------------------------===//

namespace detail {

StateMap savedStates(const std::vector<State *> &states,
                     std::source_location where) {
  StateMap saved;
  for (const State *state : states)
    if (Tensor value = state->saved(where); value.defined())
      saved[state->name()] = value;
  return saved;
}

void loadStates(const std::vector<State *> &states, const StateMap &from,
                std::source_location where) {
  // All are tried on copies first.
  std::vector<State> loaded;
  size_t numFound = 0;
  for (const State *state : states) {
    auto found = from.find(state->name());
    loaded.push_back(*state);
    loaded.back().load(found == from.end() ? Tensor() : found->second, where);
    numFound += found != from.end();
  }
  if (numFound != from.size())
    sinter::detail::raise(makeError(ErrorKind::invalid_argument,
                                    "load_state: the metric has no such state"),
                          where);
  for (size_t i = 0; i < states.size(); ++i)
    *states[i] = std::move(loaded[i]);
}

} // namespace detail

//===- Groups -------------------------------------------------------------===//

std::vector<MetricInfo> MetricGroup::infos() const {
  std::vector<MetricInfo> all;
  for (const AnyMetric &metric : metrics)
    if (metric.available())
      all.push_back(metric.info());
  return all;
}

void MetricGroup::settle(Where where) const try {
  // Devices apart: one program has one.
  std::map<std::string, std::vector<Tensor>> pending;
  for (const AnyMetric &metric : metrics)
    for (const State *state : metric.states())
      if (Tensor waits = state->waiting(); waits.defined())
        pending[toString(waits.device())].push_back(waits);
  for (const auto &[device, tensors] : pending)
    eval(tensors, where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

std::vector<Value> MetricGroup::values(Where where) const try {
  settle(where);
  std::vector<Value> all;
  for (const AnyMetric &metric : metrics) {
    if (!metric.available()) {
      logWarning(metric.info().name +
                 ": this machine cannot tell; the metric is left out");
      continue;
    }
    for (Value &value : metric.values())
      all.push_back(std::move(value));
  }
  return all;
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

double MetricGroup::value(std::string_view name, Where where) const try {
  for (const Value &each : values(where))
    if (each.name == name)
      return each.value;
  sinter::detail::raise(
      makeError(ErrorKind::invalid_argument,
                fmt::format("metrics: there is no value '{}'", name)),
      where);
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void MetricGroup::reset() {
  for (AnyMetric &metric : metrics)
    metric.reset();
}

std::string MetricGroup::prefixOf(size_t index) const {
  std::string name = metrics[index].info().name;
  size_t numSame = 0;
  for (const AnyMetric &metric : metrics)
    numSame += metric.info().name == name;
  return numSame == 1 ? name + "/" : fmt::format("{}#{}/", name, index);
}

StateMap MetricGroup::state(Where where) const try {
  settle(where);
  StateMap all;
  for (size_t i = 0; i < metrics.size(); ++i)
    for (auto &[name, value] : metrics[i].state(where))
      all[prefixOf(i) + name] = value;
  return all;
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

void MetricGroup::load_state(const StateMap &from, Where where) try {
  std::vector<StateMap> parts(metrics.size());
  for (const auto &[key, value] : from) {
    bool isTaken = false;
    for (size_t i = 0; i < metrics.size() && !isTaken; ++i) {
      std::string prefix = prefixOf(i);
      isTaken = key.starts_with(prefix);
      if (isTaken)
        parts[i][key.substr(prefix.size())] = value;
    }
    if (!isTaken)
      sinter::detail::raise(
          makeError(ErrorKind::invalid_argument,
                    "load_state: no metric is the one of '" + key + "'"),
          where);
  }
  // What was there comes back where one of them refuses.
  std::vector<StateMap> before;
  try {
    for (size_t i = 0; i < metrics.size(); ++i) {
      before.push_back(metrics[i].state(where));
      metrics[i].load_state(parts[i], where);
    }
  } catch (...) {
    for (size_t i = 0; i < before.size(); ++i)
      metrics[i].load_state(before[i], where);
    throw;
  }
} catch (...) {
  sinter::detail::raiseExhausted(where);
}

} // namespace sinter::metrics
