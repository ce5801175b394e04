/// Evaluation: one pass over a split without training, and what is read of it.
#pragma once

#include <sinter/train/EvaluatorCore.h>
#include <sinter/train/Events.h>
#include <sinter/train/Outcome.h>
#include <sinter/train/SplitData.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::train {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void failLearner(std::string message, std::source_location where);

/// The metrics' numbers, as they are.
std::vector<Value> valuesOf(const metrics::MetricGroup &metrics,
                            std::source_location where);
/// A metric whose unit is `%` is a share; who watches is told the percents.
std::vector<Value> inUnits(std::vector<Value> values);
/// The results of a split in place of those that were there.
void putResults(std::vector<Result> &results, Split split,
                const std::vector<Value> &values);

/// Where in a run a pass is.
struct PassPlace {
  int64_t epoch = 1;
  int64_t total = 0; ///< batches of validation before it
  bool isInterruptible = true;
};
/// A validation: steps and its end are told, the metrics are empty afterwards.
/// How many batches it had; none where Ctrl-C came before its end.
std::optional<int64_t>
evaluatePass(const SplitData &data, const PassPlace &place,
             const std::function<void(const Event &)> &tell,
             std::vector<Result> &results, std::source_location where);

} // namespace sinter::train
