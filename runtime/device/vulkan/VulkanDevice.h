/// VulkanDevice: one device with Vulkan 1.3.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/vulkan/PipelineFile.h"
#include "runtime/device/vulkan/VulkanCopies.h"
#include "runtime/device/vulkan/VulkanImage.h"
#include "runtime/memory/CachingAllocator.h"

namespace sinter::runtime {

/// All host threads queue their work to one queue, in one order, so nobody
/// needs to wait for work before its memory is freed and taken again.
class VulkanDevice final : public Device {
public:
  /// How many there are that can be used; 0 without a loader.
  static uint8_t count();
  /// An error of kind `device` says what is missing.
  static Result<VulkanDevice *> open(uint8_t index);

  DeviceId id() const override { return deviceId; }
  std::string description() const override;
  /// What its shaders may use, `f64,i16,...,shared16,shared32,subgroup32`.
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
  Status copy(Buffer &to, const Buffer &from, size_t bytes) override;
  Status move(void *to, const void *from, size_t bytes) override;
  Result<std::unique_ptr<Image>>
  loadImage(std::span<const std::byte> bytes) override;
  Status launch(const LaunchArgs &args) override;
  Result<std::unique_ptr<Event>> record() override;
  Status synchronize() override;
  Result<uint64_t> startTimer() override { return queue.startTimer(); }
  Result<std::optional<uint64_t>> stopTimer(uint64_t timer) override;
  bool hasGraphs() const override { return true; }
  Result<std::unique_ptr<WorkGraph>>
  makeGraph(std::span<const GraphNode> nodes, const WatchedWord &word) override;

private:
  VulkanDevice(VulkanGpu opened, uint8_t index);
  static Result<VulkanDevice *> make(uint8_t index);
  /// The features, and of the workgroup's memory the largest or all sizes.
  std::vector<std::string> features(bool allSizes) const;

  /// Closes the device after all that was made with it.
  struct OpenedGpu : VulkanGpu {
    explicit OpenedGpu(const VulkanGpu &opened) : VulkanGpu(opened) {}
    OpenedGpu(const OpenedGpu &) = delete;
    ~OpenedGpu() { loader.destroyDevice(device, nullptr); }
  };

  const OpenedGpu gpu;
  const DeviceId deviceId;
  const VulkanHeap heap;
  VulkanQueue queue;
  VulkanMemory memory;
  CachingAllocator allocator;
  PipelineFile pipelines;
  VulkanCopies copies;
};

} // namespace sinter::runtime
