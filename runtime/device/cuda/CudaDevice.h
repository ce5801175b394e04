/// CudaDevice: one NVIDIA GPU through the driver API.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaImage.h"
#include "runtime/memory/CachingAllocator.h"

namespace sinter::runtime {

/// Memory of a GPU, from its driver.
class CudaMemory final : public MemorySource {
public:
  CudaMemory(const cuda::Driver &driver, cuda::Context context)
      : driver(driver), context(context) {}
  void *acquire(size_t bytes) override;
  void release(void *block) override;

private:
  const cuda::Driver &driver;
  const cuda::Context context;
};

/// Each host thread works on a stream of its own; a run ends by waiting for
/// it, so that memory which is freed after a run is idle on every stream.
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
  bool sharesHostMemory() const override { return false; }
  Result<BufferRef> allocate(size_t bytes) override;
  void free(Buffer *buffer) override;
  Status copyIn(Buffer &to, size_t offset,
                std::span<const std::byte> from) override;
  Status copyOut(std::span<std::byte> to, const Buffer &from,
                 size_t offset) override;
  Status copy(Buffer &to, const Buffer &from, size_t bytes) override;
  Status move(void *to, const void *from, size_t bytes) override;
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;
  Result<std::unique_ptr<Event>> record() override;
  Status synchronize() override;

private:
  /// What the driver says of a device.
  struct Description {
    std::string name;
    int major = 0, minor = 0, multiprocessors = 0;
    size_t bytes = 0;
  };

  CudaDevice(const cuda::Driver &driver, uint8_t index, cuda::Context context,
             Description about);
  static Result<CudaDevice *> make(uint8_t index);
  /// Makes the device the calling thread's.
  Status enter() const;
  /// Appends the tensor maps of a launch to the words that it passes.
  Status appendTensorMaps(const CudaKernel &kernel, const LaunchArgs &args,
                          std::vector<uint64_t> &words) const;
  /// `cuda:0: what`.
  Status check(std::string_view what, cuda::Code code) const;

  const cuda::Driver &driver;
  const DeviceId deviceId;
  const cuda::Context context;
  const Description about;
  CudaMemory memory;
  CachingAllocator allocator;
};

} // namespace sinter::runtime
