/// HostDevice: what devices share whose memory is the process's own and whose
/// work is done when a call returns.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/memory/CachingAllocator.h"

namespace sinter::runtime {

/// Allocation, copies, events and streams of `cpu` and `null`.
class HostDevice : public Device {
public:
  DeviceId id() const override { return deviceId; }
  MemoryInfo memoryInfo() const override;
  size_t mostAllocation() const override { return allocator.mostBytes(); }
  void resetPeakMemory() override { allocator.resetPeak(); }
  bool sharesHostMemory() const override { return true; }
  /// For null what a cpu would run.
  std::string target() const override { return "cpu"; }
  Result<BufferRef> allocate(size_t bytes) override;
  void free(Buffer *buffer) override;
  Status copyIn(Buffer &to, size_t offset,
                std::span<const std::byte> from) override;
  Status copyOut(std::span<std::byte> to, const Buffer &from,
                 size_t offset) override;
  Status copy(Buffer &to, const Buffer &from, size_t bytes) override;
  Status move(void *to, const void *from, size_t bytes) override;
  Result<std::unique_ptr<Event>> record() override;
  Status synchronize() override;

protected:
  explicit HostDevice(DeviceId id);

private:
  const DeviceId deviceId;
  HostMemory memory;
  CachingAllocator allocator;
};

} // namespace sinter::runtime
