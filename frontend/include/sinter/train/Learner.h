/// Learner: a training loop with everything around it.
#pragma once

#include <sinter/Record.h>
#include <sinter/Transforms.h>
#include <sinter/metrics/MetricSet.h>
#include <sinter/optim/Optimizer.h>
#include <sinter/train/Average.h>
#include <sinter/train/Evaluator.h>
#include <sinter/train/LearnerCore.h>
#include <sinter/train/LearnerOptions.h>
#include <sinter/train/Monitors.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

namespace sinter::train {

/// Trains a model: takes batches, records steps, updates parameters, reads
/// metrics now and then, tells listeners, writes checkpoints, and goes on where
/// a run ended, to the very same weights.
///
///     auto step = [](const Mlp &model, const Batch &batch) {
///       sn::Tensor logits = model.forward(batch.images);
///       return sn::metrics::ClassificationOutput{
///           sn::cross_entropy(logits, batch.labels), logits, batch.labels};
///     };
///     sn::train::Learner learner(model, adam, step,
///                                {.folder = "run", .epochs = 10});
///     learner.metric(sn::metrics::Accuracy({.classes = 10}));
///     learner.fit(train, valid);
///
/// A step is a function of the model and a batch that gives any struct. Of two
/// arguments, the struct has a field `loss`, which the optimizer makes less; of
/// three, the step itself calls the third (`Updates`), once for each optimizer.
/// The same function of two arguments validates: without gradients, and with
/// the model in the state of `eval()`; `valid_step` gives another one.
///
/// The model, the optimizers and the loaders are the caller's and outlive the
/// Learner, which belongs to one thread.
template <detail::Module M, typename Batch, typename Output> class Learner {
public:
  using Where = std::source_location;
  using Step = std::function<Output(M &, Batch &, Updates &)>;

  template <typename F>
  Learner(M &model, optim::Optimizer &optimizer, F step,
          LearnerOptions options = {}, Where where = Where::current())
      : model(model), line(where), core(std::move(options), where),
        evaluator(model, {}, {.autocast = core.options().autocast}, where) {
    core.add_optimizer("optimizer", optimizer, {}, where);
    if constexpr (std::invocable<F &, M &, Batch &, Updates &>) {
      trains = std::move(step);
    } else {
      trains = [step, &optimizer, where](M &trained, Batch &batch,
                                         Updates &update) mutable {
        Output output = step(trained, batch);
        update(optimizer, trained, output.loss, where);
        return output;
      };
      valid_step(std::move(step));
    }
  }

  /// Learning rates of the first optimizer, by its updates.
  Learner &schedule(optim::Schedule schedule, Where where = Where::current()) {
    core.set_schedule(std::move(schedule), where);
    return *this;
  }
  /// One more optimizer, for steps that call `Updates`.
  Learner &optimizer(std::string name, optim::Optimizer &more,
                     std::optional<optim::Schedule> schedule = {},
                     Where where = Where::current()) {
    core.add_optimizer(std::move(name), more, std::move(schedule), where);
    return *this;
  }
  /// An average of the model, an Ema or a Swa (sinter/train/Average.h) that the
  /// caller made of it: it takes part in updates, checkpoints keep it, and
  /// validation runs it.
  ///
  ///     sn::train::Ema ema(model, 0.999);
  ///     learner.average(ema);
  ///
  /// It is recorded with the step and is part of its program.
  template <typename A>
    requires std::derived_from<A, Averaged<M>>
  Learner &average(A &average, const AverageOptions &options = {},
                   Where where = Where::current()) {
    std::string name = core.add_average(
        options, [this, &average] { average.update(model, line); },
        [this, &average](bool on) {
          evaluator.set_model(on ? average.model() : model);
        },
        where);
    return keep(std::move(name), average);
  }
  /// Metrics of both splits, each with a state of its own; or of one. Errors of
  /// a metric name this line.
  template <typename Metric>
  Learner &metric(const Metric &metric, Where where = Where::current()) {
    train_metric(metric, where);
    return valid_metric(metric, where);
  }
  template <typename Metric>
  Learner &train_metric(const Metric &metric, Where where = Where::current()) {
    trained.add(metric).added_at(where);
    return *this;
  }
  template <typename Metric>
  Learner &valid_metric(const Metric &metric, Where where = Where::current()) {
    evaluator.metric(metric, where);
    return *this;
  }
  /// The same of what `adaptor` makes of an output.
  template <typename Metric, std::invocable<const Output &> Adaptor>
  Learner &metric(const Metric &metric, const Adaptor &adaptor,
                  Where where = Where::current()) {
    train_metric(metric, adaptor, where);
    return valid_metric(metric, adaptor, where);
  }
  template <typename Metric, std::invocable<const Output &> Adaptor>
  Learner &train_metric(const Metric &metric, const Adaptor &adaptor,
                        Where where = Where::current()) {
    trained.add(metric, adaptor).added_at(where);
    return *this;
  }
  template <typename Metric, std::invocable<const Output &> Adaptor>
  Learner &valid_metric(const Metric &metric, const Adaptor &adaptor,
                        Where where = Where::current()) {
    evaluator.metric(metric, adaptor, where);
    return *this;
  }
  /// What validates in place of the step.
  Learner &valid_step(std::function<Output(M &, Batch &)> step) {
    validates = step != nullptr;
    evaluator.set_step(std::move(step));
    return *this;
  }
  /// Told of everything that happens (sinter/train/Events.h).
  Learner &listen(std::shared_ptr<Listener> listener) {
    core.add_listener(std::move(listener));
    return *this;
  }
  /// Shows the training in the terminal and writes logs, TensorBoard's files
  /// and a report into the folder (sinter/train/Monitors.h).
  Learner &monitors(const MonitorOptions &options = {}) {
    core.add_monitors(options);
    return *this;
  }
  /// Told of events as `listen` is, by a function of an event, or of one kind
  /// of events:
  ///
  ///     learner.on([](const sn::train::EpochEnd &epoch) { ... });
  template <typename F> Learner &on(F function) {
    core.add_listener(
        std::make_shared<detail::FunctionListener<F>>(std::move(function)));
    return *this;
  }
  /// One more thing that checkpoints keep: anything that `Record::put` takes,
  /// which outlives the Learner.
  template <typename T> Learner &keep(std::string name, T &state) {
    core.add_state(
        std::move(name),
        [&state] {
          Record record;
          record.put("state", state);
          return record;
        },
        [&state](const Record &record) { record.get("state", state); });
    return *this;
  }
  /// Ends the training at the border of the step that is done now; for
  /// listeners and steps.
  void stop(std::string why) { core.stop(std::move(why)); }

  /// Trains and validates in turns, until all epochs are done or something ends
  /// the run.
  template <typename Train, typename Valid>
  Outcome fit(Train &train, Valid &valid, Where where = Where::current()) {
    LearnerParts parts = partsOf();
    parts.train = trainOf(train);
    parts.valid = validOf(valid, where);
    return core.fit(parts, where);
  }
  /// The same without validation.
  template <typename Train>
  Outcome fit(Train &train, Where where = Where::current()) {
    LearnerParts parts = partsOf();
    parts.train = trainOf(train);
    return core.fit(parts, where);
  }
  /// The metrics of one pass over some data, without training.
  template <typename Data>
  Outcome evaluate(Data &data, Where where = Where::current()) {
    LearnerParts parts = partsOf();
    parts.valid = validOf(data, where);
    return core.evaluate(parts, where);
  }

private:
  LearnerParts partsOf() {
    LearnerParts parts;
    parts.set_training = [this](bool on) { model.train(on); };
    parts.model = [this] { return into_record(model); };
    parts.load_model = [this](const Record &record) {
      load_record(model, record);
    };
    parts.load_optimizer = [this](optim::Optimizer &optimizer,
                                  const Record &record) {
      optimizer.load_record(model, record);
    };
    parts.updates.add = [this](GradientsAccumulator &sums,
                               const Gradients &gradients, Where where) {
      sums.accumulate(model, gradients, 1, where);
    };
    parts.updates.load_sums = [this](const Record &record, int64_t count,
                                     const std::vector<std::string> &paths,
                                     Where where) {
      GradientsAccumulator sums(model, where);
      load_record(sums, record, {.strict = false}, where);
      sums.resume(model, count, paths, where);
      return sums;
    };
    parts.updates.step = [this](optim::Optimizer &optimizer,
                                ReadyGradients ready, Where where) {
      ready.step(optimizer, model, where);
    };
    parts.facts = detail::factsOf(model, line);
    return parts;
  }
  template <typename Loader> SplitData trainOf(Loader &loader) {
    return detail::splitDataOf<Batch>(loader, trained, [this](Batch &batch) {
      std::optional<Output> output = [&] {
        detail::AutocastIf scope(core.options().autocast, line);
        return trains(model, batch, core.updates());
      }();
      core.recorded();
      trained.update(*output, line);
      detail::runStep(output, trained, line);
    });
  }
  template <typename Loader> SplitData validOf(Loader &loader, Where where) {
    if (!validates)
      core.throwNoValidStep(where);
    return evaluator.dataOf(loader);
  }

  M &model;
  Where line;
  LearnerCore core;
  Step trains;
  bool validates = false;
  Evaluator<M, Batch, Output> evaluator;
  metrics::MetricSet<Output> trained;
};

template <typename M, typename F>
Learner(M &, optim::Optimizer &, F, LearnerOptions = {},
        std::source_location = {})
    -> Learner<M, typename detail::StepOf<F>::Batch,
               typename detail::StepOf<F>::Output>;

} // namespace sinter::train
