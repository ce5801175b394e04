/// VulkanGpu: a device as its driver describes it, opened.
#pragma once

#include "runtime/device/vulkan/Loader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter::runtime {

/// What was found out about a device.
struct VulkanAbout {
  vulkan::PhysicalDevice physical = nullptr;
  std::string name, driver;
  uint32_t type = 0; ///< VkPhysicalDeviceType
  /// Whether it is the host's own processor (VK_PHYSICAL_DEVICE_TYPE_CPU).
  bool isProcessor() const { return type == 4; }
  uint32_t version = 0;
  uint32_t vendor = 0, deviceId = 0;
  /// Threads of the subgroups that kernels may ask for; 0 where there are none
  /// of a size that is known, with votes and shuffles.
  uint32_t subgroup = 0;
  uint32_t sharedBytes = 0;
  uint32_t mostThreads = 0;    ///< of a workgroup
  uint32_t mostGroups = 0;     ///< of a launch along each axis
  uint64_t mostAllocation = 0; ///< bytes of one allocation
  bool matrices = false;       ///< `multipliesHalves`
  bool int8 = false, int16 = false, int64 = false;
  bool float64 = false, atomic64 = false;
  bool keepsNan = false, keepsDenormals = false;
  /// Whether the driver is NVIDIA's own, which is known to do what Vulkan
  /// leaves open: Fma rounds once, FMax and FMin of two numbers order zeros,
  /// and Exp2 of f32 is within 2^-22.5 of what it is of.
  bool isNvidia = false;
  bool hasBudget = false; ///< says how much memory there is still
  uint8_t cacheId[16] = {};
  uint32_t family = 0;        ///< of its queue
  uint32_t timestampBits = 0; ///< that its queue counts; 0 without a clock
  float timestampPeriod = 0;  ///< nanoseconds
  /// Why it cannot be used; empty where it can.
  std::string reason;
};

/// The devices of this machine, those that can be used first, and of these GPUs
/// before what computes on the host. Asked once.
const Result<std::vector<VulkanAbout>> &
vulkanDevices(const vulkan::Loader &loader);

/// A device and its one queue.
struct VulkanGpu {
  const vulkan::Loader &loader;
  const VulkanAbout &about;
  vulkan::Device device = nullptr;
  vulkan::Queue queue = nullptr;

  /// Opens it with the features that `about` says.
  static Result<VulkanGpu> open(const vulkan::Loader &loader,
                                const VulkanAbout &about);
};

/// What a barrier in commands is between. The access is named as narrowly as it
/// can be: a barrier for access of any kind costs an H200 3 us more.
enum class VulkanOrder {
  kernels, ///< kernels that read and write buffers
  work,    ///< kernels and copies of buffers
  host,    ///< the same and the host, which reads what they wrote
};
void addBarrier(const VulkanGpu &gpu, vulkan::CommandBuffer commands,
                VulkanOrder order);

/// Memory with a buffer that is all of it.
struct VulkanBlock {
  vulkan::Memory memory = nullptr;
  vulkan::Buffer buffer = nullptr;
  uint64_t address = 0;
  uint64_t bytes = 0;
  std::byte *mapped = nullptr; ///< null where the host cannot see it
};

/// Where memory lies: what the host writes and kernels read (`arguments`) is
/// the device's where it can be, and as long as there is some; what is copied
/// from or to it is the host's.
enum class VulkanPlace { device, arguments, upload, readback };

/// Kernels may use its address. On failure nothing is left behind.
vulkan::Code makeBlock(const VulkanGpu &gpu, uint64_t bytes, VulkanPlace place,
                       VulkanBlock &block);
void freeBlock(const VulkanGpu &gpu, VulkanBlock &block);

/// Bytes of the heaps of the device's own memory, and what is still to be had
/// where the driver says it.
struct VulkanHeap {
  uint64_t total = 0;
  std::optional<uint64_t> available;
};
VulkanHeap deviceHeap(const VulkanGpu &gpu);

} // namespace sinter::runtime
