/// CudaDevice: one NVIDIA GPU through the driver API.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaLaunch.h"
#include "runtime/device/cuda/StagingRing.h"
#include "runtime/device/cuda/UploadPool.h"
#include "runtime/device/cuda/WordReporter.h"
#include "runtime/memory/CachingAllocator.h"

#include <bitset>
#include <mutex>

namespace sinter::runtime {

/// Memory of a GPU, from its driver.
class CudaMemory final : public MemorySource {
public:
  CudaMemory(const cuda::Driver &driver, cuda::Context context)
      : driver(driver), context(context) {}
  void *acquire(size_t bytes) override;
  void release(void *block) override;
  bool waitsOnRelease() const override { return true; }

private:
  const cuda::Driver &driver;
  const cuda::Context context;
};

/// All host threads queue their work to one stream. A thread's work is seldom
/// alone enough to leave room on a GPU, and in one order nobody needs to wait
/// for work before its memory is freed and taken again.
class CudaDevice final : public Device {
public:
  /// How many there are; 0 without a driver.
  static uint8_t count();
  /// An error of kind `device` says what is missing.
  static Result<CudaDevice *> open(uint8_t index);

  DeviceId id() const override { return deviceId; }
  std::string description() const override;
  /// `sm_50,...,sm_90`: the architectures whose PTX it runs.
  std::string profile() const override;
  std::string target() const override;
  MemoryInfo memoryInfo() const override;
  size_t mostAllocation() const override { return allocator.mostBytes(); }
  void resetPeakMemory() override { allocator.resetPeak(); }
  bool sharesHostMemory() const override { return false; }
  Result<BufferRef> allocate(size_t bytes) override;
  void free(Buffer *buffer) override;
  Status copyIn(Buffer &to, size_t offset,
                std::span<const std::byte> from) override;
  Status copyOut(std::span<std::byte> to, const Buffer &from,
                 size_t offset) override;
  /// Copied by a stream of its own.
  Result<std::unique_ptr<Upload>> upload(size_t bytes) override;
  Status copy(Buffer &to, const Buffer &from, size_t bytes) override;
  /// From one to another GPU without the host, where they can reach each other.
  Status copyAcross(Buffer &to, const Buffer &from, size_t bytes) override;
  Status move(void *to, const void *from, size_t bytes) override;
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;
  Result<std::unique_ptr<Event>> record() override;
  Status synchronize() override;
  Status followStream(void *stream) override;
  Status leadStream(void *stream) override;
  bool hasGraphs() const override { return true; }
  Result<std::unique_ptr<WorkGraph>>
  makeGraph(std::span<const GraphNode> nodes, const WatchedWord &word) override;

private:
  /// What the driver says of a device.
  struct Description {
    std::string name;
    int major = 0, minor = 0, multiprocessors = 0;
    int threads = 0, registers = 0, sharedBytes = 0; ///< of a multiprocessor
    int blockBytes = 0; ///< of shared memory, of a block
    size_t bytes = 0;

    int capability() const { return major * 10 + minor; } ///< 90 is 9.0
  };

  CudaDevice(const cuda::Driver &driver, uint8_t index, cuda::Context context,
             cuda::Stream stream, Description about);
  static Result<CudaDevice *> make(uint8_t index);
  /// Makes the device the calling thread's.
  Status enter() const;
  /// Lets this one's copies reach the other one's memory, if the machine can.
  void reach(const CudaDevice &other);
  /// What is queued on the other one from here on comes after what is queued
  /// here till now.
  Status precede(const CudaDevice &other);
  /// What is queued to `second` from here on comes after what is queued to
  /// `first` till now; both are of this device.
  Status order(cuda::Stream first, cuda::Stream second);
  /// `cuda:0: what`.
  Status check(std::string_view what, cuda::Code code) const;

  const cuda::Driver &driver;
  const DeviceId deviceId;
  const cuda::Context context;
  const cuda::Stream stream;
  const Description about;
  const LaunchTarget launches;
  CudaMemory memory;
  CachingAllocator allocator;
  StagingRing staging;
  UploadPool uploads;
  WordReporter reporter;
  std::mutex reachMutex;
  std::bitset<256> reached; ///< devices that `reach` was called for
};

} // namespace sinter::runtime
