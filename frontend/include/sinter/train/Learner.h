/// Learner: a training loop with everything around it.
#pragma once

#include <sinter/Record.h>
#include <sinter/Transforms.h>
#include <sinter/metrics/MetricSet.h>
#include <sinter/optim/Optimizer.h>
#include <sinter/train/LearnerCore.h>
#include <sinter/train/LearnerOptions.h>
#include <sinter/train/Monitors.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>

namespace sinter::detail {

/// The batch and the output of a step, whose parameters have plain types.
template <typename F> struct StepTypes;
template <typename R, typename M, typename B>
struct StepTypes<std::function<R(M, B)>> {
  using Batch = std::remove_cvref_t<B>;
  using Output = std::remove_cvref_t<R>;
};
template <typename R, typename M, typename B>
struct StepTypes<std::function<R(M, B, train::Updates &)>> {
  using Batch = std::remove_cvref_t<B>;
  using Output = std::remove_cvref_t<R>;
};
template <typename F>
using StepOf = StepTypes<decltype(std::function(std::declval<F>()))>;

/// A shared place in one epoch of a loader.
template <typename Loader> struct Pass {
  using Iterator = std::decay_t<decltype(std::declval<Loader &>().begin())>;
  Loader &loader;
  std::optional<Iterator> at;
  bool first = true;

  /// The next batch, or null.
  auto *next() {
    if (!first)
      ++*at;
    first = false;
    return *at == loader.end() ? nullptr : &**at;
  }
};

} // namespace sinter::detail

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
      : model(model), line(where), core(std::move(options), where) {
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
      validates = std::move(step);
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
  /// Metrics of both splits, each with a state of its own; or of one.
  template <typename Metric, typename... Adaptor>
  Learner &metric(const Metric &metric, const Adaptor &...adaptor) {
    train_metric(metric, adaptor...);
    return valid_metric(metric, adaptor...);
  }
  template <typename Metric, typename... Adaptor>
  Learner &train_metric(const Metric &metric, const Adaptor &...adaptor) {
    trained.add(metric, adaptor...);
    return *this;
  }
  template <typename Metric, typename... Adaptor>
  Learner &valid_metric(const Metric &metric, const Adaptor &...adaptor) {
    validated.add(metric, adaptor...);
    return *this;
  }
  /// What validates in place of the step.
  Learner &valid_step(std::function<Output(M &, Batch &)> step) {
    validates = std::move(step);
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
        std::make_shared<FunctionListener<F>>(std::move(function)));
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
    parts.valid = validOf(valid);
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
    parts.valid = validOf(data);
    return core.evaluate(parts, where);
  }

private:
  template <typename F> struct FunctionListener final : Listener {
    explicit FunctionListener(F function) : function(std::move(function)) {}
    void on(const Event &event) override {
      std::visit(
          [&](const auto &kind) {
            if constexpr (std::invocable<F &, const Event &>)
              function(event);
            else if constexpr (std::invocable<F &, decltype(kind)>)
              function(kind);
          },
          event);
    }
    F function;
  };

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
    parts.parameters = model.num_params();
    return parts;
  }
  template <typename Loader> LearnerParts::Data trainOf(Loader &loader) {
    return dataOf(loader, trained, [this](Batch &batch) {
      Output output = trains(model, batch, core.updates());
      trained.update(output, line);
      settle(output, trained);
    });
  }
  template <typename Loader> LearnerParts::Data validOf(Loader &loader) {
    return dataOf(loader, validated, [this](Batch &batch) {
      if (!validates)
        core.throwNoValidStep(line);
      no_grad guard;
      Output output = validates(model, batch);
      validated.update(output, line);
      settle(output, validated);
    });
  }
  /// Has what was recorded run.
  void settle(const Output &output, const metrics::MetricGroup &metrics) {
    if constexpr (requires { output.loss.eval(line); })
      output.loss.eval(line);
    else
      core.settle(metrics, line);
  }

  template <typename Loader, typename F>
  static LearnerParts::Data dataOf(Loader &loader,
                                   metrics::MetricGroup &metrics, F step) {
    auto pass = std::make_shared<detail::Pass<Loader>>(loader);
    LearnerParts::Data data;
    if constexpr (requires { int64_t(loader.size()); })
      data.steps = loader.size();
    data.metrics = &metrics;
    data.begin = [pass] {
      pass->first = true;
      pass->at.emplace(pass->loader.begin());
    };
    data.step = [pass, step] {
      auto *batch = pass->next();
      if (!batch)
        return false;
      if constexpr (std::same_as<std::remove_pointer_t<decltype(batch)>,
                                 Batch>) {
        step(*batch);
      } else {
        Batch copy = *batch;
        step(copy);
      }
      return true;
    };
    data.end = [pass] { pass->at.reset(); };
    if constexpr (requires { loader.cursor(); }) {
      data.save = [&loader](Record &record) { record.put("data", loader); };
      data.load = [&loader](const Record &record) {
        record.get("data", loader);
      };
    }
    return data;
  }

  M &model;
  Where line;
  LearnerCore core;
  Step trains;
  std::function<Output(M &, Batch &)> validates;
  metrics::MetricSet<Output> trained, validated;
};

template <typename M, typename F>
Learner(M &, optim::Optimizer &, F, LearnerOptions = {},
        std::source_location = {})
    -> Learner<M, typename detail::StepOf<F>::Batch,
               typename detail::StepOf<F>::Output>;

} // namespace sinter::train
