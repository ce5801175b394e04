/// Memory: what this process's tensors take of a device.
#pragma once

#include <sinter/Creation.h>

#include <cstdint>
#include <string_view>

namespace sinter {

/// Bytes of a device's memory.
struct Memory {
  /// Of tensors and of what programs that run have for themselves.
  uint64_t in_use = 0;
  /// Taken from the device: what is in use, and what is kept for tensors to
  /// come.
  uint64_t reserved = 0;
  /// The most that was in use at once since the start, or since `reset_peak`.
  uint64_t peak = 0;
  /// Of the device, or of the machine or its limits; SINTER_MEMORY_LIMIT if
  /// that is less.
  uint64_t total = 0;
};

/// What is counted now, by this process alone. Work that was queued before
/// counts as done: its memory is given to others in the order of the queue.
/// Throws an Error of kind `device` where the device is not there.
Memory memory(DeviceId device = default_device());
Memory memory(std::string_view device);

/// Lets `peak` begin again at what is in use, to learn what a part of a program
/// takes. Throws as `memory` does.
void reset_peak(DeviceId device = default_device());
void reset_peak(std::string_view device);

} // namespace sinter
