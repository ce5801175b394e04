/// Evaluator: a model's metrics over a loader.
#pragma once

#include <sinter/Module.h>
#include <sinter/Transforms.h>
#include <sinter/metrics/MetricSet.h>
#include <sinter/train/EvaluatorCore.h>
#include <sinter/train/MixedPrecision.h>
#include <sinter/train/SplitData.h>
#include <sinter/train/Summary.h>

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <sstream>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sinter::detail {

/// While it lives, a model predicts. Its modes come back one by one.
class Predicting {
public:
  template <Module M>
  explicit Predicting(M &model) : modes(allFieldsOf(model).modes) {
    for (Mode *mode : modes)
      before.push_back(std::exchange(mode->training, false));
  }
  Predicting(const Predicting &) = delete;
  ~Predicting() {
    for (size_t i = 0; i < modes.size(); ++i)
      modes[i]->training = before[i];
  }

private:
  std::vector<Mode *> modes;
  std::vector<bool> before;
};

/// A listener that is a function of an event, or of one kind of events.
template <typename F> struct FunctionListener final : train::Listener {
  explicit FunctionListener(F function) : function(std::move(function)) {}
  void on(const train::Event &event) override {
    std::visit(
        [&](const auto &kind) {
          if constexpr (std::invocable<F &, const train::Event &>)
            function(event);
          else if constexpr (std::invocable<F &, decltype(kind)>)
            function(kind);
        },
        event);
  }
  F function;
};

/// `autocast`, or what is around it.
class AutocastIf {
public:
  AutocastIf(std::optional<DType> dtype, std::source_location where) {
    if (dtype)
      scope.emplace(dtype, where);
  }

private:
  std::optional<train::autocast> scope;
};

/// Runs what was recorded of a batch. What its output holds beside the loss
/// goes before: nobody reads it any more, so the program need not store it.
template <typename Output>
void runStep(std::optional<Output> &output, const metrics::MetricGroup &metrics,
             std::source_location where) {
  if constexpr (requires { output->loss.eval(where); }) {
    auto loss = output->loss;
    output.reset();
    loss.eval(where);
  } else {
    output.reset();
    train::EvaluatorCore::settle(metrics, where);
  }
}

template <Module M>
train::ModelFacts factsOf(const M &model, std::source_location where) {
  train::ModelFacts facts;
  Fields fields = allFieldsOf(model);
  facts.parameters = countElements(fields);
  for (const auto &[path, param] : fields.params)
    facts.devices.push_back(param->device());
  std::ostringstream text;
  text << train::summary(model, where);
  facts.summary = std::move(text).str();
  return facts;
}

} // namespace sinter::detail

namespace sinter::train {

/// Runs a model over a loader, without gradients and in the state of `eval()`,
/// and gives the metrics of all items:
///
///     sn::train::Evaluator test(model, step);
///     test.metric(sn::metrics::Accuracy({.classes = 10})).monitors();
///     std::cout << test.evaluate(loader)("accuracy");
///
/// A step is a function of the model and a batch that gives any struct, as that
/// of a Learner (sinter/train/Learner.h), whose validation this is. Each batch
/// is a program; metrics are read at the end. Events are those of a run of one
/// epoch that has a validation alone.
///
/// The model and the loader are the caller's and outlive the Evaluator, which
/// belongs to one thread. The model's modes are what they were when it is done.
template <detail::Module M, typename Batch, typename Output> class Evaluator {
public:
  using Where = std::source_location;
  using Step = std::function<Output(M &, Batch &)>;

  /// An Error of `evaluate` where there is no step.
  Evaluator(M &model, Step step, EvaluatorOptions options = {},
            Where where = Where::current())
      : subject(&model), step(std::move(step)), line(where),
        core(std::move(options), where) {}

  template <typename Metric>
  Evaluator &metric(const Metric &metric, Where where = Where::current()) {
    taken.add(metric).added_at(where);
    return *this;
  }
  /// A metric of what `adaptor` makes of an output.
  template <typename Metric, std::invocable<const Output &> Adaptor>
  Evaluator &metric(const Metric &metric, const Adaptor &adaptor,
                    Where where = Where::current()) {
    taken.add(metric, adaptor).added_at(where);
    return *this;
  }
  /// Told of everything that happens (sinter/train/Events.h).
  Evaluator &listen(std::shared_ptr<Listener> listener) {
    core.add_listener(std::move(listener));
    return *this;
  }
  /// The same as a function of an event, or of one kind of events.
  template <typename F> Evaluator &on(F function) {
    return listen(
        std::make_shared<detail::FunctionListener<F>>(std::move(function)));
  }
  /// Shows the evaluation in the terminal and writes logs and a report into the
  /// folder (sinter/train/Monitors.h).
  Evaluator &monitors(const MonitorOptions &options = {}) {
    core.add_monitors(options);
    return *this;
  }

  /// One pass. Ctrl-C ends it at the border of a batch: the outcome says so,
  /// and has no results.
  template <typename Data>
  Outcome evaluate(Data &data, Where where = Where::current()) {
    detail::Predicting predicting(*subject);
    return core.evaluate(dataOf(data), detail::factsOf(*subject, where), where);
  }

  /// What the passes of a Learner take of it.
  template <typename Loader> SplitData dataOf(Loader &loader) {
    return detail::splitDataOf<Batch>(loader, taken, [this](Batch &batch) {
      core.checkStep(step != nullptr, line);
      no_grad guard;
      std::optional<Output> output = [&] {
        detail::AutocastIf scope(core.options().autocast, line);
        return step(*subject, batch);
      }();
      taken.update(*output, line);
      detail::runStep(output, taken, line);
    });
  }
  /// Another model of the same kind, an average, say.
  void set_model(M &other) { subject = &other; }
  M &model() { return *subject; }
  void set_step(Step other) { step = std::move(other); }

private:
  M *subject;
  Step step;
  Where line;
  EvaluatorCore core;
  metrics::MetricSet<Output> taken;
};

template <typename M, typename F>
Evaluator(M &, F, EvaluatorOptions = {}, std::source_location = {})
    -> Evaluator<M, typename detail::StepOf<F>::Batch,
                 typename detail::StepOf<F>::Output>;

} // namespace sinter::train
