/// One pass over a split without training, and what is read of it.
#include "frontend/learner/Evaluation.h"

#include "frontend/Raise.h"
#include "frontend/learner/Interrupt.h"
#include "frontend/learner/Machine.h"
#include "frontend/learner/MessageRelay.h"

#include <fmt/format.h>

#include <utility>

namespace sinter::train {

void failLearner(std::string message, std::source_location where) {
  sinter::detail::raise(
      makeError(ErrorKind::invalid_argument, "learner: " + std::move(message)),
      where);
}

double Outcome::operator()(std::string_view name, Split split) const {
  for (const Result &result : results)
    if (result.name == name && result.split == split)
      return result.value;
  std::string known;
  for (const Result &result : results)
    known += fmt::format("{}{} '{}'", known.empty() ? "" : ", ",
                         to_string(result.split), result.name);
  failLearner(fmt::format("there is no {} '{}' among the results: {}",
                          to_string(split), name,
                          known.empty() ? "there are none" : known),
              {});
}

//===- Values -------------------------------------------------------------===//

static Better betterOf(const metrics::MetricInfo &info) {
  if (!info.higher_is_better)
    return Better::neither;
  return *info.higher_is_better ? Better::higher : Better::lower;
}

std::vector<Value> valuesOf(const metrics::MetricGroup &metrics,
                            std::source_location where) {
  std::vector<Value> values;
  std::vector<metrics::MetricInfo> infos = metrics.infos();
  for (const metrics::Value &one : metrics.values(where)) {
    Value value{.name = one.name, .value = one.value};
    for (const metrics::MetricInfo &info : infos)
      if (one.name == info.name || one.name.starts_with(info.name + ".")) {
        value.unit = info.unit;
        value.better = betterOf(info);
      }
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Value> inUnits(std::vector<Value> values) {
  for (Value &value : values)
    if (value.unit == "%")
      value.value *= 100;
  return values;
}

void putResults(std::vector<Result> &results, Split split,
                const std::vector<Value> &values) {
  std::erase_if(results,
                [&](const Result &result) { return result.split == split; });
  for (const Value &value : values)
    results.push_back({.split = split,
                       .name = value.name,
                       .value = value.value,
                       .better = value.better});
}

//===- A pass -------------------------------------------------------------===//

std::optional<int64_t>
evaluatePass(const SplitData &data, const PassPlace &place,
             const std::function<void(const Event &)> &tell,
             std::vector<Result> &results, std::source_location where) {
  auto began = Clock::now();
  int64_t step = 0;
  data.begin();
  while (data.step()) {
    ++step;
    tell(StepEnd{.split = Split::valid,
                 .epoch = place.epoch,
                 .step = step,
                 .steps = data.steps,
                 .total_step = place.total + step});
    if (place.isInterruptible && Interrupt::asked()) {
      // It is done again as a whole.
      data.end();
      data.metrics->reset();
      return {};
    }
  }
  data.end();
  std::vector<Value> values = valuesOf(*data.metrics, where);
  putResults(results, Split::valid, values);
  values = inUnits(std::move(values));
  tell(EpochEnd{.split = Split::valid,
                .epoch = place.epoch,
                .steps = step,
                .total_step = place.total + step,
                .seconds = secondsSince(began),
                .values = values});
  data.metrics->reset();
  return step;
}

//===- The core of an Evaluator -------------------------------------------===//

EvaluatorCore::EvaluatorCore(EvaluatorOptions options, Where)
    : told(std::move(options)) {}

void EvaluatorCore::add_listener(std::shared_ptr<Listener> listener) {
  listeners.add(std::move(listener));
}

void EvaluatorCore::add_monitors(const MonitorOptions &options) {
  train::add_monitors(listeners, options);
  isShown = true;
}

void EvaluatorCore::settle(const metrics::MetricGroup &metrics, Where where) {
  if (metrics.size() == 0)
    failLearner("an output without a field `loss` needs a metric, which has "
                "the step run",
                where);
  metrics.settle(where);
}

void EvaluatorCore::checkStep(bool isThere, Where where) {
  if (!isThere)
    failLearner("there is no step that evaluates a batch", where);
}

Outcome EvaluatorCore::evaluate(const SplitData &data, const ModelFacts &facts,
                                Where where) {
  auto began = Clock::now();
  Interrupt interrupt(told.interruptible);
  Machine machine(facts.devices);
  std::optional<MessageRelay> relay;
  if (isShown)
    relay.emplace();
  auto tell = [&](const Event &event) {
    tellWithMessages(listeners, relay ? &*relay : nullptr, event);
  };
  tell(RunBegin{.name = told.name,
                .folder = told.folder,
                .config = told.config,
                .model = facts.summary,
                .devices = machine.devices(),
                .hardware = Machine::hardware(),
                .epochs = 1,
                .valid_steps = data.steps,
                .parameters = facts.parameters});
  tell(EpochBegin{.epoch = 1, .valid_steps = data.steps});
  Outcome outcome;
  RunEnd end;
  try {
    PassPlace place{.isInterruptible = told.interruptible};
    if (evaluatePass(data, place, tell, outcome.results, where)) {
      outcome.epochs = 1;
    } else {
      outcome.status = Status::interrupted;
      outcome.why = "SIGINT";
      tell(Interrupted{.why = outcome.why});
    }
  } catch (const std::exception &error) {
    tell(RunEnd{.status = Status::failed,
                .why = error.what(),
                .seconds = secondsSince(began)});
    throw;
  }
  outcome.seconds = secondsSince(began);
  end.status = outcome.status;
  end.why = outcome.why;
  end.seconds = outcome.seconds;
  end.devices = machine.uses();
  machine.tell(end);
  tell(end);
  return outcome;
}

} // namespace sinter::train
