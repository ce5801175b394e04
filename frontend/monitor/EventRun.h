/// EventRun: an event file that goes on where another process ended.
#pragma once

#include "frontend/monitor/AppendFile.h"
#include "frontend/monitor/EventRecords.h"

#include <sinter/train/TensorBoard.h>

namespace sinter::train {

struct EventFile::State {
  AppendFile output;
  bool isFresh = true; ///< or has records of an earlier process
  std::string record;
  WireMessage event, summary, value;

  /// Begins a message of that step.
  void begin(int64_t step, double time);
  /// Adds `value` to it.
  void addValue() { summary.text(1, value); }
  void end();

  /// Opens a new file in the folder.
  static std::unique_ptr<State> make(const std::string &folder);
  /// Goes on with the newest file of the folder, cut; a new one if there is
  /// none.
  static std::unique_ptr<State> resume(const std::string &folder, Split split,
                                       const Resume &from);
};

/// Whether a file of this name is an event file.
bool isEventFile(std::string_view name);

} // namespace sinter::train
