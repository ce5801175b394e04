/// VulkanMemory: memory of a device in slabs.
#pragma once

#include "runtime/device/vulkan/VulkanGpu.h"
#include "runtime/memory/CachingAllocator.h"

#include <functional>
#include <map>
#include <mutex>

namespace sinter::runtime {

/// Drivers take long over an allocation and allow few, so small blocks share
/// one; a large one has its own. Blocks are device addresses. Thread-safe.
class VulkanMemory final : public MemorySource {
public:
  /// `finish` waits for all work of the device.
  VulkanMemory(const VulkanGpu &gpu, std::function<void()> finish)
      : gpu(gpu), finish(std::move(finish)) {}

  void *acquire(size_t bytes) override;
  size_t mostBytes() const override {
    return (gpu.about.mostAllocation - alignment) / alignment * alignment;
  }
  void release(void *block) override;
  bool waitsOnRelease() const override { return true; }

  /// The buffer in which an address lies, for copies.
  struct Place {
    vulkan::Buffer buffer = nullptr;
    uint64_t offset = 0;
  };
  /// Null where the address is none of a block.
  Place placeOf(const void *address) const;

private:
  static constexpr uint64_t slabBytes = uint64_t(64) << 20;
  static constexpr uint64_t alignment = 256;
  struct Slab {
    VulkanBlock block;
    std::map<uint64_t, uint64_t> unused; ///< bytes by address
    std::map<uint64_t, uint64_t> taken;
  };

  Slab *addSlab(uint64_t bytes);
  static uint64_t take(Slab &slab, uint64_t bytes);

  const VulkanGpu &gpu;
  const std::function<void()> finish;
  mutable std::mutex mutex;
  std::map<uint64_t, Slab> slabs; ///< by the address of their first byte
};

} // namespace sinter::runtime
