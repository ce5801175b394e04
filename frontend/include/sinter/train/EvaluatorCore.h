/// EvaluatorCore: what an Evaluator does whatever its model and batches are.
#pragma once

#include <sinter/runtime/DeviceId.h>
#include <sinter/train/Events.h>
#include <sinter/train/Monitors.h>
#include <sinter/train/Outcome.h>
#include <sinter/train/SplitData.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::train {

struct EvaluatorOptions {
  std::string name = "evaluation";
  /// For what `monitors` writes; without one nothing is written.
  std::string folder = {};
  /// JSON text of the settings, for those who show them.
  std::string config = {};
  /// Records batches under `autocast` (sinter/train/MixedPrecision.h).
  std::optional<DType> autocast = {};
  /// Ctrl-C ends the evaluation; not where it is ignored.
  bool interruptible = true;
};

/// What is told of a model.
struct ModelFacts {
  int64_t parameters = 0;
  std::string summary;
  std::vector<DeviceId> devices; ///< of its parameters, perhaps several times
};

class EvaluatorCore {
public:
  using Where = std::source_location;

  EvaluatorCore(EvaluatorOptions options, Where where);

  void add_listener(std::shared_ptr<Listener> listener);
  void add_monitors(const MonitorOptions &options);
  Outcome evaluate(const SplitData &data, const ModelFacts &facts, Where where);
  const EvaluatorOptions &options() const { return told; }

  /// Has the states of metrics, and with them the step, evaluated; an Error
  /// where there are none.
  static void settle(const metrics::MetricGroup &metrics, Where where);
  static void checkStep(bool isThere, Where where);

private:
  EvaluatorOptions told;
  Listeners listeners;
  bool isShown = false;
};

} // namespace sinter::train
