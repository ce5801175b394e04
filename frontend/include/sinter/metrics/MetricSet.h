/// MetricSet: the metrics of a training, whatever their kinds.
///
/// A metric is any class with three functions and its info:
///
///     struct Largest {
///       sn::metrics::MetricInfo info() const { return {.name = "largest"}; }
///       void update(const sn::Tensor &x);   // records, reads nothing
///       double value() const;               // reads
///       void reset();
///     };
///
/// Optional are
///   values()     several named numbers in place of one
///   states()     pointers to its `State`s: these are saved, and evaluated
///                together before anyone reads
///   state(), load_state(map)
///                the same for a metric that keeps something else
///   available()  false where the machine cannot tell: the metric is left out
/// `update` may also take nothing.
#pragma once

#include <sinter/metrics/MetricInfo.h>
#include <sinter/metrics/State.h>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::metrics {

/// A class with the three functions; what `update` takes is left open.
template <typename M>
concept Metric = requires(M &metric, const M &fixed) {
  { fixed.info() } -> std::convertible_to<MetricInfo>;
  metric.reset();
} && (requires(const M &metric) {
  { metric.value() } -> std::convertible_to<double>;
} || requires(const M &metric) {
  { metric.values() } -> std::convertible_to<std::vector<Value>>;
});

namespace detail {
StateMap savedStates(const std::vector<State *> &states,
                     std::source_location where);
void loadStates(const std::vector<State *> &states, const StateMap &from,
                std::source_location where);
} // namespace detail

/// A metric of any class. It is moved, never copied.
class AnyMetric {
public:
  using Where = std::source_location;

  template <typename M>
    requires(!std::same_as<std::remove_cvref_t<M>, AnyMetric> && Metric<M>)
  explicit AnyMetric(std::shared_ptr<M> metric)
      : held(std::make_unique<Held<M>>(std::move(metric))) {}

  MetricInfo info() const { return held->info(); }
  /// The numbers of all items since `reset`; reads.
  std::vector<Value> values() const { return held->values(); }
  void reset() { held->reset(); }
  bool available() const { return held->available(); }
  std::vector<State *> states() const { return held->states(); }
  StateMap state(Where where = Where::current()) const {
    return held->state(where);
  }
  void load_state(const StateMap &from, Where where = Where::current()) {
    held->load(from, where);
  }

private:
  struct Base {
    virtual ~Base() = default;
    virtual MetricInfo info() const = 0;
    virtual std::vector<Value> values() const = 0;
    virtual void reset() = 0;
    virtual bool available() const = 0;
    virtual std::vector<State *> states() const = 0;
    virtual StateMap state(Where where) const = 0;
    virtual void load(const StateMap &from, Where where) = 0;
  };
  template <typename M> struct Held final : Base {
    explicit Held(std::shared_ptr<M> metric) : metric(std::move(metric)) {}
    MetricInfo info() const override { return metric->info(); }
    std::vector<Value> values() const override {
      if constexpr (requires { metric->values(); })
        return metric->values();
      else
        return {{metric->info().name, double(metric->value())}};
    }
    void reset() override { metric->reset(); }
    bool available() const override {
      if constexpr (requires { metric->available(); })
        return metric->available();
      else
        return true;
    }
    std::vector<State *> states() const override {
      if constexpr (requires { metric->states(); })
        return metric->states();
      else
        return {};
    }
    StateMap state(Where where) const override {
      if constexpr (requires { metric->state(); })
        return metric->state();
      else
        return detail::savedStates(states(), where);
    }
    void load(const StateMap &from, Where where) override {
      if constexpr (requires { metric->load_state(from); })
        metric->load_state(from);
      else
        detail::loadStates(states(), from, where);
    }
    std::shared_ptr<M> metric;
  };
  std::unique_ptr<Base> held;
};

/// Metrics whose values are read together. What prints and saves takes this.
class MetricGroup {
public:
  using Where = std::source_location;

  size_t size() const { return metrics.size(); }
  const AnyMetric &operator[](size_t index) const { return metrics[index]; }
  /// The infos of those that are available, in order.
  std::vector<MetricInfo> infos() const;
  /// All numbers of the metrics that are available, in order. What is pending
  /// is evaluated at once first, then each is read. One that is not available
  /// is left out; a warning says so once.
  std::vector<Value> values(Where where = Where::current()) const;
  /// One number by its name; an Error where there is none.
  double value(std::string_view name, Where where = Where::current()) const;
  void reset();

  /// What a checkpoint keeps of all: `<metric>/<state>`, or
  /// `<metric>#<index>/<state>` for one whose name others have, too. A state
  /// without any batch is absent.
  StateMap state(Where where = Where::current()) const;
  /// Takes it back; all or nothing. A state that is absent becomes empty, one
  /// that no metric has is an Error.
  void load_state(const StateMap &from, Where where = Where::current());

  /// Evaluates every state that waits, as one program for each device.
  void settle(Where where = Where::current()) const;

protected:
  std::string prefixOf(size_t index) const;

  std::vector<AnyMetric> metrics;
};

/// The metrics of steps that give an `Output`. One takes of it what it needs:
/// the Output itself, what an Output converts to (`ClassificationOutput` to
/// `ClassInput`), or what a function makes of it.
///
///     sn::metrics::MetricSet<sn::metrics::ClassificationOutput> metrics;
///     metrics.add(sn::metrics::MeanLoss())
///         .add(sn::metrics::Accuracy({.classes = 10}))
///         .add(Largest(), [](const auto &output) { return output.logits; });
template <typename Output> class MetricSet : public MetricGroup {
public:
  /// Adds a metric, or one that others hold, too.
  template <Metric M> MetricSet &add(M metric) {
    return add(std::make_shared<M>(std::move(metric)));
  }
  template <Metric M> MetricSet &add(std::shared_ptr<M> metric) {
    M &target = *metric;
    metrics.emplace_back(std::move(metric));
    if constexpr (requires(const Output &o, Where w) { target.update(o, w); })
      push([&target](const Output &output, Where where) {
        target.update(output, where);
      });
    else if constexpr (requires(const Output &output) {
                         target.update(output);
                       })
      push([&target](const Output &output, Where) { target.update(output); });
    else if constexpr (requires { target.update(); })
      push([&target](const Output &, Where) { target.update(); });
    else
      static_assert(!std::same_as<M, M>,
                    "the metric's update takes neither this output nor what "
                    "it converts to: add(metric, function) gives it another");
    return *this;
  }
  /// Adds a metric that takes what `adaptor` makes of an output.
  template <Metric M, std::invocable<const Output &> Adaptor>
  MetricSet &add(M metric, Adaptor adaptor) {
    return add(std::make_shared<M>(std::move(metric)), std::move(adaptor));
  }
  template <Metric M, std::invocable<const Output &> Adaptor>
  MetricSet &add(std::shared_ptr<M> metric, Adaptor adaptor) {
    M &target = *metric;
    metrics.emplace_back(std::move(metric));
    push([&target, adaptor = std::move(adaptor)](const Output &output,
                                                 Where where) mutable {
      if constexpr (requires { target.update(adaptor(output), where); })
        target.update(adaptor(output), where);
      else
        target.update(adaptor(output));
    });
    return *this;
  }

  /// Errors of the metric that was added last name this line, not that of
  /// `update`: for who calls `update` in the name of others.
  MetricSet &added_at(Where where) {
    if (!updates.empty())
      updates.back().line = where;
    return *this;
  }

  /// Records what each metric takes of one batch; reads nothing.
  void update(const Output &output, Where where = Where::current()) {
    UpdateScope scope(where);
    for (auto &[take, line] : updates)
      take(output, line.value_or(where));
  }

private:
  struct Update {
    std::function<void(const Output &, Where)> take;
    std::optional<Where> line = {};
  };
  template <typename F> void push(F take) {
    updates.push_back({std::move(take)});
  }

  std::vector<Update> updates;
};

} // namespace sinter::metrics
