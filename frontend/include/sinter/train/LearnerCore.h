/// LearnerCore: what a Learner does whatever its model and batches are.
#pragma once

#include <sinter/metrics/MetricSet.h>
#include <sinter/train/LearnerOptions.h>
#include <sinter/train/Monitors.h>
#include <sinter/train/Updates.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace sinter::train {

/// What a Learner knows of a model and its data, for the core.
struct LearnerParts {
  /// Batches of one split, epoch by epoch.
  struct Data {
    int64_t steps = 0; ///< of an epoch; 0: not known
    metrics::MetricGroup *metrics = nullptr;
    std::function<void()> begin;
    /// Takes the next batch and records its step; false when there is none.
    std::function<bool()> step;
    std::function<void()> end;
    /// Puts the place in the data into a record and goes there; empty where
    /// the loader has none.
    std::function<void(Record &)> save;
    std::function<void(const Record &)> load;
  };
  Data train;
  std::optional<Data> valid;
  std::function<void(bool)> set_training;
  std::function<Record()> model;
  std::function<void(const Record &)> load_model;
  /// Of an optimizer's state, for the parameters of the model.
  std::function<void(optim::Optimizer &, const Record &)> load_optimizer;
  int64_t parameters = 0;
};

class CheckpointFolder;

/// Runs the loops, tells listeners, writes checkpoints.
class LearnerCore {
public:
  using Where = std::source_location;

  LearnerCore(LearnerOptions options, Where where);
  ~LearnerCore();

  void add_optimizer(std::string name, optim::Optimizer &optimizer,
                     std::optional<optim::Schedule> schedule, Where where);
  void set_schedule(optim::Schedule schedule, Where where);
  void add_listener(std::shared_ptr<Listener> listener);
  void add_monitors(const MonitorOptions &options);
  void add_state(std::string name, std::function<Record()> save,
                 std::function<void(const Record &)> load);
  /// Ends the training at the border of the step that is done now.
  void stop(std::string why);

  Outcome fit(const LearnerParts &parts, Where where);
  Outcome evaluate(const LearnerParts &parts, Where where);
  /// Has the states of metrics, and with them the step, evaluated; an Error
  /// where there are none.
  static void settle(const metrics::MetricGroup &metrics, Where where);
  [[noreturn]] static void throwNoValidStep(Where where);
  Updates &updates() { return update; }
  const LearnerOptions &options() const { return told; }

private:
  struct State;
  struct Extra {
    std::string name;
    std::function<Record()> save;
    std::function<void(const Record &)> load;
  };

  void begin(const LearnerParts &parts, State &run);
  void trainEpoch(const LearnerParts &parts, State &run);
  void validate(const LearnerParts &parts, State &run);
  void endEpoch(const LearnerParts &parts, State &run);
  Outcome end(const LearnerParts &parts, State &run);
  void stepDone(const LearnerParts &parts, State &run, Split split);
  void splitDone(const LearnerParts::Data &data, State &run, Split split,
                 double seconds);
  /// The metrics' values; of a training rates, too, by the steps that took
  /// `seconds`.
  std::vector<Value> valuesOf(const metrics::MetricGroup &metrics, Split split,
                              int64_t steps, double seconds);
  bool interrupted(State &run);
  void checkStopRules(State &run);
  void checkpoint(const LearnerParts &parts, State &run,
                  const std::string &why);
  void resume(const LearnerParts &parts, State &run);
  void tell(const Event &event) { listeners.on(event); }

  LearnerOptions told;
  Where line;
  Updates update;
  Listeners listeners;
  std::vector<Extra> extras;
  std::unique_ptr<CheckpointFolder> folder;
  std::string stopReason;
  bool stopping = false;
};

} // namespace sinter::train
