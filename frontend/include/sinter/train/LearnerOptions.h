/// LearnerOptions: what a training is told.
#pragma once

#include <sinter/record/RecordTree.h>
#include <sinter/train/Events.h>
#include <sinter/train/MixedPrecision.h>
#include <sinter/train/Outcome.h>

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
  int64_t max_steps = 0; ///< batches over the whole run; 0: no limit
  /// Batches whose gradients make one update: the last one of them does, and so
  /// does the end of an epoch. A step calls each optimizer at most once then.
  int64_t accumulate = 1;
  double clip_norm = 0;  ///< of all gradients of an update; 0: none
  double clip_value = 0; ///< of each element; 0: none
  /// Records steps and validations under `autocast` (MixedPrecision.h): with
  /// products in bf16 or f16, parameters as they are. Of f16, losses are
  /// scaled, too.
  std::optional<DType> autocast = {};
  /// Scales losses by a LossScaler with these options, whose state checkpoints
  /// keep. Updates whose gradients are not finite are left out; schedules and
  /// averages count them. By itself with `autocast` of f16.
  std::optional<LossScalerOptions> loss_scale = {};
  /// Steps between two readings of the metrics; 0, or where nobody listens and
  /// no checkpoint asks (`checkpoints.when`): at the ends of epochs.
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

/// What an average of the model is for.
struct AverageOptions {
  int64_t from_epoch = 1; ///< the first whose updates it takes
  bool by_epoch = false;  ///< takes the parameters at the ends of epochs alone
  /// Validation runs the average, from the epoch on that it takes part in.
  bool validates = true;
};

} // namespace sinter::train
