/// VulkanCopies: copies within a device's memory as launches.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/vulkan/VulkanLaunch.h"

#include <memory>
#include <mutex>

namespace sinter::runtime {

/// Kernels of the runtime's own that copy. They read addresses as every other
/// kernel does, so a recorded copy of other buffers is the same commands; and
/// the copies of some drivers are slow (H200: a fifth of what its memory can).
/// Thread-safe.
class VulkanCopies {
public:
  /// The kernels are loaded on `device` with the first copy.
  VulkanCopies(const VulkanGpu &gpu, Device &device)
      : gpu(gpu), device(device) {}

  /// Fills in the launch. Its pipeline is null where the device has no kernel
  /// for such addresses: it lacks bytes, or words of 64 bits.
  Status pack(const CopyArgs &copy, VulkanLaunch &launch);

private:
  Status load();

  const VulkanGpu &gpu;
  Device &device;
  std::mutex mutex;
  std::unique_ptr<Image> image;
};

} // namespace sinter::runtime
