/// Device: the one interface of every backend. Each backend passes the
/// conformance suite in tests/conformance.
#pragma once

#include "runtime/device/DeviceId.h"
#include "runtime/memory/Buffer.h"
#include "runtime/program/KernelAbi.h"
#include "runtime/support/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Bytes of a device's memory.
struct MemoryInfo {
  size_t total = 0;     ///< of the device (for cpu: the cgroup's or machine's)
  size_t inUse = 0;     ///< allocated to live Buffers by this process
  size_t peak = 0;      ///< highest inUse so far
  size_t available = 0; ///< that an allocation may still take
};

/// Native code of one program, loaded on a device.
class Image {
public:
  virtual ~Image() = default;
  /// Address of a kernel phase, or null when the image lacks it.
  virtual KernelFunction find(const std::string &symbol) const = 0;
};

/// A marker in a stream.
class Event {
public:
  virtual ~Event() = default;
  virtual bool done() const = 0;
  /// Waits; returns the first asynchronous failure before the event.
  virtual Status wait() = 0;
};

/// One launch of a kernel phase.
struct LaunchArgs {
  KernelFunction function = nullptr;
  const KernelBlock *block = nullptr;
  char *arena = nullptr;
  int64_t chunks = 0;
  float chunkMicroseconds = 0; ///< an estimate; decides about threads
};

/// A device. Objects live as long as the process; all functions are
/// thread-safe and never throw.
class Device {
public:
  virtual ~Device() = default;
  virtual DeviceId id() const = 0;
  /// Human-readable: model and features.
  virtual std::string description() const = 0;
  /// The features an image may need, comma separated and sorted; part of keys.
  virtual std::string profile() const = 0;
  virtual MemoryInfo memoryInfo() const = 0;

  /// Dense memory, 256-byte aligned, contents undefined. Zero bytes is legal.
  /// out_of_memory leaves everything as it was.
  virtual Result<BufferRef> allocate(size_t bytes) = 0;
  /// Called by Buffer::release only.
  virtual void free(Buffer *buffer) = 0;

  /// Host to device, device to host, device to device; ordered after earlier
  /// work of the calling thread's stream; complete when they return.
  virtual Status copyIn(Buffer &to, size_t offset,
                        std::span<const std::byte> from) = 0;
  virtual Status copyOut(std::span<std::byte> to, const Buffer &from,
                         size_t offset) = 0;
  virtual Status copy(Buffer &to, const Buffer &from, size_t bytes) = 0;

  /// Loads native code. The bytes are copied.
  virtual Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) = 0;
  /// Runs one phase; may return before it ended.
  virtual Status launch(const LaunchArgs &args) = 0;
  /// Marks the calling thread's stream.
  virtual Result<std::unique_ptr<Event>> record() = 0;
  /// Waits for the calling thread's stream.
  virtual Status synchronize() = 0;
};

/// The device, opened at the first request. An error of kind `device` names
/// what is missing (`cuda:0: this build has no cuda backend`).
Result<Device *> getDevice(DeviceId id);
/// Every device that can be opened here.
std::vector<DeviceId> availableDevices();

} // namespace sinter::runtime
