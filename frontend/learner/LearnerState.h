/// What a run of a Learner knows of itself.
#pragma once

#include "frontend/learner/Evaluation.h"

#include <sinter/Record.h>
#include <sinter/train/LearnerCore.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace sinter::train {

/// The value of an early stopping rule so far.
struct RuleState {
  double best = NAN;
  int64_t bad = 0;
  SINTER_RECORD(RuleState, best, bad)
};

/// All but the clocks is in checkpoints.
struct LearnerCore::State {
  int64_t epoch = 0;      ///< whole ones
  int64_t step = 0;       ///< batches of this epoch that were trained on
  int64_t total = 0;      ///< of all epochs
  int64_t validTotal = 0; ///< batches of validation of all epochs
  bool trained = false;   ///< of this epoch only the validation is missing
  std::vector<RuleState> rules;
  SINTER_RECORD(State, epoch, step, total, validTotal, trained, rules)

  Outcome outcome;
  Clock::time_point began = Clock::now(), checkpointed = began;
  int64_t lastLogged = 0;
  Clock::time_point logged = began;
  std::optional<Clock::time_point> reported; ///< what the devices do
  Status status = Status::finished;
  bool ended = false;
  int64_t written = -1; ///< the number of the last checkpoint
};

} // namespace sinter::train
