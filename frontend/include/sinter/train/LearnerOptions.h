/// LearnerOptions: what a training is told.
#pragma once

#include <sinter/record/RecordTree.h>
#include <sinter/train/Events.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sinter::train {

/// Some checkpoints are kept for a value of theirs.
struct KeepBest {
  std::string metric = "loss";
  Split split = Split::valid;
  int64_t count = 1; ///< how many
};

/// When a checkpoint is written, and which ones are kept. Several reasons may
/// hold at once; one that none of the last four keeps is removed when a newer
/// one is durable.
struct CheckpointOptions {
  int64_t every_epochs = 1; ///< 0: not at the ends of epochs
  int64_t every_steps = 0;  ///< 0: not within epochs
  double every_minutes = 0; ///< 0: not by the clock
  /// Also where this says so, at the end of a step.
  std::function<bool(const StepEnd &)> when = {};

  int64_t keep_last = 2; ///< at least 1
  std::vector<KeepBest> keep_best = {};
  int64_t keep_every_epochs = 0; ///< those of every so many epochs; 0: none
  /// Also those that this says of, by their numbers.
  std::function<bool(int64_t number)> keep = {};

  /// Writes on a thread of its own, while the training goes on.
  bool background = true;
  RecordFormat format = RecordFormat::safetensors;
};

/// Ends a training whose value no longer gets better.
struct EarlyStopping {
  std::string metric = "loss";
  Split split = Split::valid;
  int64_t patience = 5; ///< epochs without a better value that are let pass
  double min_delta = 0; ///< how much better a value must be
};

struct LearnerOptions {
  std::string name = "training";
  /// The artifact folder (docs/training.md); without one nothing is written
  /// and nothing can be resumed.
  std::string folder = {};
  int64_t epochs = 1;
  int64_t max_steps = 0;  ///< of the optimizer over the whole run; 0: no limit
  int64_t accumulate = 1; ///< batches whose gradients make one update
  double clip_norm = 0;   ///< of all gradients of an update; 0: none
  double clip_value = 0;  ///< of each element; 0: none
  /// Steps between two readings of the metrics; 0: at the ends of epochs.
  int64_t log_every = 50;
  /// Restarts the thread's random numbers where a run begins.
  std::optional<uint64_t> seed = {};
  /// JSON text of the settings, which becomes `config.json`.
  std::string config = {};
  /// Goes on from the newest checkpoint of the folder. When off, a folder with
  /// checkpoints is an error.
  bool resume = true;
  /// Ctrl-C ends the training at the border of a step, with a checkpoint; a
  /// second one goes to whoever took SIGINT before. Not where it is ignored.
  bool interruptible = true;
  CheckpointOptions checkpoints = {};
  std::vector<EarlyStopping> early_stopping = {};
};

/// A number of a metric at the end.
struct Result {
  Split split = Split::train;
  std::string name;
  double value = 0;
  Better better = Better::neither;

  /// How much better it is than another value; less is, unless more is.
  double gain_over(double other) const {
    return better == Better::higher ? value - other : other - value;
  }
};

/// What a training came to.
struct Outcome {
  Status status = Status::finished;
  std::string why;    ///< the rule that stopped it, or what interrupted it
  int64_t epochs = 0; ///< whole ones, over all processes of the run
  int64_t steps = 0;  ///< batches that were trained on, over the whole run
  double seconds = 0; ///< of this process
  std::optional<int64_t> resumed_from; ///< the checkpoint's number
  std::vector<Result> results;         ///< of the last epoch

  /// One number; an Error where there is none.
  double operator()(std::string_view name, Split split = Split::valid) const;
};

} // namespace sinter::train
