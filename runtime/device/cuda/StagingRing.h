/// StagingRing: pinned memory through which the host's bytes go to a GPU.
#pragma once

#include "runtime/device/cuda/Driver.h"

#include <array>
#include <cstddef>
#include <mutex>
#include <span>

namespace sinter::runtime {

/// A copy from memory that the system may move is waited for by the driver, or
/// read late where somebody pinned it. Bytes that went into the ring are the
/// caller's again at once, and the stream takes them when it gets there. A few
/// bytes the driver keeps itself, in the stream, which saves the GPU a
/// microsecond.
/// Thread-safe. The calling thread's context is the device's.
class StagingRing {
public:
  StagingRing(const cuda::Driver &driver, cuda::Stream stream)
      : driver(driver), stream(stream) {}
  StagingRing(const StagingRing &) = delete;

  /// Queues a copy. It waits only where the ring is full of bytes that the
  /// stream has not taken yet.
  cuda::Code copyIn(cuda::Address to, std::span<const std::byte> from);

private:
  static constexpr size_t fewBytes = 4096;
  static constexpr size_t slotBytes = size_t(4) << 20;
  struct Slot {
    std::byte *memory = nullptr; ///< pinned when first used, kept for good
    cuda::DriverEvent taken = nullptr;
    bool isQueued = false; ///< `taken` was recorded
  };

  /// Room for that many bytes, at most a slot.
  cuda::Code reserve(size_t bytes, std::byte *&room);
  cuda::Code nextSlot();
  cuda::Code open(Slot &slot);

  const cuda::Driver &driver;
  const cuda::Stream stream;
  std::mutex mutex;
  std::array<Slot, 4> slots;
  size_t current = 0;
  size_t used = 0; ///< bytes of the current slot
};

} // namespace sinter::runtime
