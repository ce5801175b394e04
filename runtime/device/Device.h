/// Device: the one interface of every backend. Each backend passes the
/// conformance suite in tests/conformance.
#pragma once

#include "runtime/device/WorkGraph.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Buffer.h"
#include "sinter/runtime/DeviceId.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Bytes of a device's memory.
struct MemoryInfo {
  size_t total = 0;     ///< of the device (for cpu: the cgroup's or machine's)
  size_t inUse = 0;     ///< allocated to live Buffers by this process
  size_t peak = 0;      ///< highest inUse so far, or since resetPeakMemory
  size_t available = 0; ///< that an allocation may still take
  size_t reserved = 0;  ///< inUse, and what is kept for Buffers to come
};

/// Native code of one program, loaded on a device.
class Image {
public:
  virtual ~Image() = default;
  /// A kernel phase, or null when the image lacks it. Lives as long as this.
  virtual KernelHandle find(const std::string &symbol) const = 0;
};

/// A marker in a stream.
class Event {
public:
  virtual ~Event() = default;
  virtual bool done() const = 0;
  /// Waits; returns the first asynchronous failure before the event.
  virtual Status wait() = 0;
};

/// Bytes on their way to a new buffer of a device.
class Upload {
public:
  virtual ~Upload() = default;
  /// Where the host writes them, 64-byte aligned; contents undefined.
  virtual std::span<std::byte> room() const = 0;
  /// The buffer, once; the room may not be written to any more. What is queued
  /// from here on comes after the copy.
  virtual Result<BufferRef> send() = 0;
};

/// A device. Objects live as long as the process; all functions are
/// thread-safe and never throw. Its work is one stream: what a thread queues
/// comes after all that was queued before, so memory may be freed while queued
/// work still uses it.
class Device {
public:
  virtual ~Device() = default;
  virtual DeviceId id() const = 0;
  /// An error in a child of the process that opened the device, unless the
  /// device is the process's own memory and processors: drivers do not follow.
  Status checkProcess() const;
  /// Human-readable: model and features.
  virtual std::string description() const = 0;
  /// The features an image may need, comma separated and sorted; part of keys.
  virtual std::string profile() const = 0;
  /// The target whose code suits it best, as the compiler names it.
  virtual std::string target() const = 0;
  virtual MemoryInfo memoryInfo() const = 0;
  /// Whether its kernels read and write memory of the process. Elsewhere they
  /// must not be given addresses that the device did not allocate.
  virtual bool sharesHostMemory() const = 0;

  /// Dense memory, 256-byte aligned, contents undefined. Zero bytes is legal.
  /// out_of_memory leaves everything as it was.
  virtual Result<BufferRef> allocate(size_t bytes) = 0;
  /// Called by Buffer::release only.
  virtual void free(Buffer *buffer) = 0;

  /// Host to device, device to host, device to device, in the order of the
  /// stream. The host's bytes are the caller's again when they return.
  virtual Status copyIn(Buffer &to, size_t offset,
                        std::span<const std::byte> from) = 0;
  virtual Status copyOut(std::span<std::byte> to, const Buffer &from,
                         size_t offset) = 0;
  virtual Status copy(Buffer &to, const Buffer &from, size_t bytes) = 0;
  /// Within the device's memory, in the order of the stream; may return before
  /// it ended. The ranges may be one, not overlap.
  virtual Status move(void *to, const void *from, size_t bytes) = 0;

  /// Loads native code. The bytes are copied.
  virtual Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) = 0;
  /// Runs one phase; may return before it ended.
  virtual Status launch(const LaunchArgs &args) = 0;
  /// Marks the stream.
  virtual Result<std::unique_ptr<Event>> record() = 0;
  /// Waits for what was queued, by any thread. An error says what failed.
  virtual Status synchronize() = 0;

  /// Whether it makes graphs.
  virtual bool hasGraphs() const { return false; }
  /// The nodes as a graph that can be launched again and again, and a word to
  /// watch. What pointers of the nodes lead to is needed for this call only.
  virtual Result<std::unique_ptr<WorkGraph>>
  makeGraph(std::span<const GraphNode> nodes, const WatchedWord &word);

  /// Begins to take the time of what is queued from here on. Each timer is
  /// stopped, before its program queues other work.
  virtual Result<uint64_t> startTimer() { return uint64_t(0); }
  /// Waits for what was queued: the nanoseconds that it took by the device's
  /// own clock, or nothing where that is not known.
  virtual Result<std::optional<uint64_t>> stopTimer(uint64_t timer);

  /// The first bytes of a buffer of any device, in the order of both streams;
  /// through the host's memory unless a backend's devices reach each other. May
  /// return before it ended.
  virtual Status copyAcross(Buffer &to, const Buffer &from, size_t bytes);

  /// The peak of memoryInfo is what is in use now.
  virtual void resetPeakMemory() = 0;

  /// A stream of somebody else's on this device, by its driver's own handle
  /// (CUstream; null is the driver's default). What is queued here from here on
  /// comes after what is queued there till now, or the other way round. An
  /// error of kind `unsupported` where the device knows no such streams.
  virtual Status followStream(void *stream);
  virtual Status leadStream(void *stream);

  /// The bytes that one Buffer may have at most.
  virtual size_t mostAllocation() const { return SIZE_MAX; }

  /// Begins a new buffer that the host writes. Where the device has memory of
  /// its own, a backend may copy it there beside the work that is queued. This
  /// one writes to the buffer itself, or else copies in.
  virtual Result<std::unique_ptr<Upload>> upload(size_t bytes);

private:
  const uint32_t openedIn = forkNumber();
};

/// Whether `bytes` at `offset` of a buffer may be copied by `device`; an error
/// of kind `invalid_argument` begins with `what`.
Status checkCopy(const char *what, const Device &device, const Buffer &buffer,
                 size_t offset, size_t bytes);

/// The device, opened at the first request. An error of kind `device` names
/// what is missing (`device cuda:0 is not available: libcuda.so.1 not found`).
Result<Device *> getDevice(DeviceId id);
/// Every device that can be opened here.
std::vector<DeviceId> availableDevices();

} // namespace sinter::runtime
