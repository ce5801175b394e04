/// LearnerCore: what a Learner does whatever its model and batches are.
#pragma once

#include <sinter/train/EvaluatorCore.h>
#include <sinter/train/LearnerOptions.h>
#include <sinter/train/Monitors.h>
#include <sinter/train/SplitData.h>
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
  SplitData train;
  std::optional<SplitData> valid;
  std::function<void(bool)> set_training;
  std::function<Record()> model;
  std::function<void(const Record &)> load_model;
  /// Of an optimizer's state, for the parameters of the model.
  std::function<void(optim::Optimizer &, const Record &)> load_optimizer;
  ModelUpdates updates;
  ModelFacts facts;
};

class CheckpointFolder;
class Machine;
class MessageRelay;

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
  /// `update` is called behind updates of parameters; `validate(true)` where
  /// validation runs the average from now on.
  /// Gives the name by which checkpoints keep it.
  std::string add_average(const AverageOptions &options,
                          std::function<void()> update,
                          std::function<void(bool)> validate, Where where);
  /// Ends the training at the border of the step that is done now.
  void stop(std::string why);

  Outcome fit(const LearnerParts &parts, Where where);
  Outcome evaluate(const LearnerParts &parts, Where where);
  [[noreturn]] static void throwNoValidStep(Where where);
  Updates &updates() { return update; }
  /// The step of a batch is recorded: scales and averages follow.
  void recorded();
  const LearnerOptions &options() const { return told; }

private:
  struct State;
  struct Extra {
    std::string name;
    std::function<Record()> save;
    std::function<void(const Record &)> load;
  };
  struct Average {
    AverageOptions options;
    std::function<void()> update;
    std::function<void(bool)> validate;
  };

  void begin(const LearnerParts &parts, State &run);
  void trainEpoch(const LearnerParts &parts, State &run);
  void validate(const LearnerParts &parts, State &run);
  void endEpoch(const LearnerParts &parts, State &run);
  Outcome end(const LearnerParts &parts, State &run);
  Outcome runEpochs(const LearnerParts &parts, State &run);
  void stepDone(const LearnerParts &parts, State &run);
  /// Tells what the devices are doing, at most once a second.
  void reportDevices(State &run);
  void trainDone(const SplitData &data, State &run, double seconds);
  /// Numbers of the training that are no metrics: rates by the steps that took
  /// `seconds`, the loss scale.
  std::vector<Value> ratesOf(int64_t steps, double seconds);
  void average(bool isEndOfEpoch);
  /// Has validation run the average where it is time.
  void chooseValidated();
  bool interrupted(State &run);
  void checkStopRules(State &run);
  /// Ends a run, perhaps one that was read, whose patience is over.
  void stopByRules(State &run);
  void checkpoint(const LearnerParts &parts, State &run,
                  const std::string &why);
  /// Gives what there is to warn of.
  std::vector<std::string> resume(const LearnerParts &parts, State &run);
  void tell(const Event &event);

  LearnerOptions told;
  Where line;
  Updates update;
  Listeners listeners;
  std::vector<Extra> extras;
  std::vector<Average> averages;
  std::unique_ptr<CheckpointFolder> folder;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<MessageRelay> relay;
  State *current = nullptr; ///< while it trains
  std::string stopReason;
  bool stopping = false;
  bool isShown = false;
};

} // namespace sinter::train
