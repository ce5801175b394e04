/// PreparedBuffers: what `prepare` phases made of inputs that stay the same,
/// such as packed weights.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/support/Fork.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// The contents that a phase reads. Equal sources are equal bytes.
struct PreparedSource {
  uint64_t buffer = 0;       ///< Buffer::id; 0 for a program's constant
  uint64_t version = 0;      ///< Buffer::version
  std::vector<int64_t> dims; ///< of the input
  bool operator==(const PreparedSource &) const = default;
};

/// The workspaces that one program keeps. Thread-safe.
///
/// Contents that are seen for the first time are prepared in the run's own
/// memory, because a training step never shows them again; at the second time
/// in memory that is kept until the input changes. What is kept by all programs
/// together takes at most a quarter of the device's memory.
class PreparedBuffers {
public:
  PreparedBuffers() = default;
  PreparedBuffers(const PreparedBuffers &) = delete;
  ~PreparedBuffers() { clear(); }

  /// A workspace: the step's number, and its own among the step's buffers.
  using Slot = std::pair<uint32_t, uint32_t>;
  struct Kept {
    BufferRef memory; ///< null: use the run's own
    bool isFilled = false;
  };

  /// The memory for a workspace that is made from `source`. What is not filled
  /// is the caller's to fill and hand to `keep`.
  Kept find(Slot slot, const PreparedSource &source, uint64_t bytes,
            Device &device);
  void keep(Slot slot, const PreparedSource &source, BufferRef memory);
  /// Gives all memory back.
  void clear();

private:
  struct Entry {
    PreparedSource source;
    BufferRef memory;
    bool isRefused = false; ///< there was no memory for it
  };
  static void drop(Entry &entry);

  ForkMutex mutex;
  std::map<Slot, Entry> entries;
};

} // namespace sinter::runtime
