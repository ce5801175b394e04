/// CheckpointFolder: the checkpoints of a run, and which of them are kept.
#pragma once

#include <sinter/Record.h>
#include <sinter/train/LearnerOptions.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sinter::train {

/// What one checkpoint holds. Each part is a file, `model-120.safetensors`; the
/// state is written last, and a checkpoint without it is none.
struct Checkpoint {
  int64_t number = 0; ///< batches that were trained on
  int64_t epoch = 0;  ///< that is being trained, or is done
  bool ends_epoch = false;
  std::string why;
  std::vector<Result> results; ///< of the epoch that is done
  Record model, optim, scheduler, state;
};

/// What is known of a checkpoint that is there.
struct CheckpointInfo {
  int64_t number = 0;
  int64_t epoch = 0;
  bool ends_epoch = false;
  std::vector<Result> results;
};

class CheckpointFolder {
public:
  /// Finds what is there; an Error where the folder cannot be made or read.
  CheckpointFolder(std::string folder, CheckpointOptions options,
                   std::source_location where);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;

  bool empty() const { return known.empty(); }
  /// The newest checkpoint that can be read, and a warning for each newer one
  /// that cannot; none where there is none.
  std::optional<Checkpoint> newest(std::vector<std::string> &warnings,
                                   std::source_location where);
  /// Writes one, at once or on a thread; waits for the one before.
  void write(Checkpoint checkpoint, std::source_location where);
  /// What was written and removed since the last call. Throws what writing
  /// threw, once.
  std::vector<Event> done(bool wait);

private:
  /// Removes what a process left that ended while it wrote or removed a
  /// checkpoint: parts without a state, which are none.
  void removeParts();
  void writeNow(const Checkpoint &checkpoint);
  void removeOld();
  bool isKept(size_t index) const;
  std::string pathOf(const char *part, int64_t number) const;
  void remove(int64_t number);
  void join();

  std::string folder;
  CheckpointOptions options;
  std::source_location line;
  std::vector<CheckpointInfo> known; ///< by number
  /// Of the thread, while it runs; else of the caller.
  std::vector<Event> events;
  std::exception_ptr failure;
  std::atomic<bool> busy = false;
  std::thread writer;
};

} // namespace sinter::train
