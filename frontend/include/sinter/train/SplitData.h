/// SplitData: a loader and what is done with its batches.
#pragma once

#include <sinter/Record.h>
#include <sinter/metrics/MetricSet.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace sinter::train {

/// Batches of one split, epoch by epoch.
struct SplitData {
  int64_t steps = 0; ///< of an epoch; 0: not known
  metrics::MetricGroup *metrics = nullptr;
  std::function<void()> begin;
  /// Takes the next batch and does a step; false when there is none.
  std::function<bool()> step;
  std::function<void()> end;
  /// Puts the place in the data into a record and goes there; empty where
  /// the loader has none.
  std::function<void(Record &)> save;
  std::function<void(const Record &)> load;
};

} // namespace sinter::train

namespace sinter::detail {

/// The batch and the output of a step, whose parameters have plain types.
template <typename F> struct StepTypes;
template <typename R, typename M, typename B, typename... More>
struct StepTypes<std::function<R(M, B, More...)>> {
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

/// What `step(Batch &)` does with the batches of a loader, which outlives it.
template <typename Batch, typename Loader, typename F>
train::SplitData splitDataOf(Loader &loader, metrics::MetricGroup &metrics,
                             F step) {
  auto pass = std::make_shared<Pass<Loader>>(loader);
  train::SplitData data;
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
    if constexpr (std::same_as<std::remove_pointer_t<decltype(batch)>, Batch>) {
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
    data.load = [&loader](const Record &record) { record.get("data", loader); };
  }
  return data;
}

} // namespace sinter::detail
