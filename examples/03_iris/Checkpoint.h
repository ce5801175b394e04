/// Checkpoints: folders `epoch-0005`, each with all that a run consists of.
#pragma once

#include <sinter/sinter.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

/// The checkpoints of one run. A checkpoint is written under another name and
/// then renamed, so one that is there is whole, however the process ended.
class Checkpoints {
public:
  using Folder = std::filesystem::path;
  using Write = std::function<void(const Folder &)>;

  /// Makes the folder, and removes what a process left unfinished in it.
  explicit Checkpoints(Folder folder);

  /// Has a checkpoint's files written; keeps the last two.
  void save(int64_t epoch, const Write &write) const;
  /// The folder of the last one.
  std::optional<Folder> last() const;

private:
  Folder folder;
};

/// Writes and reads the key and counter of the thread's random numbers.
void saveRandom(const std::filesystem::path &file);
void loadRandom(const std::filesystem::path &file);
