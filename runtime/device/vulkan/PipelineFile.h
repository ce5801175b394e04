/// PipelineFile: what a driver made of kernels, kept for the next process.
#pragma once

#include "runtime/device/vulkan/VulkanGpu.h"
#include "runtime/files/DiskCache.h"

#include <mutex>
#include <span>

namespace sinter::runtime {

/// Whether a driver's data is of this device and driver (Vulkan specification
/// 1.3, pipeline cache header).
bool isPipelineData(std::span<const std::byte> data, const VulkanAbout &about);

/// A driver's pipeline cache, kept in the disk cache by device and driver. What
/// is broken there, or another driver's, is a counted warning, and pipelines
/// are made anew. Thread-safe.
class PipelineFile {
public:
  explicit PipelineFile(const VulkanGpu &gpu);
  PipelineFile(const PipelineFile &) = delete;
  ~PipelineFile();

  /// Comes first.
  Status open();
  vulkan::PipelineCache cache() const { return handle; }
  /// Writes what the driver has now, if that is more than before.
  void save();

  /// Under which the disk cache has it.
  const Key &key() const { return name; }

private:
  std::vector<std::byte> load() const;
  vulkan::Code make(std::span<const std::byte> data);
  /// A counted warning, and the file goes.
  void drop(const DiskCache &disk, const std::string &why) const;

  const VulkanGpu &gpu;
  const Key name;
  vulkan::PipelineCache handle = nullptr;
  std::mutex mutex;
  size_t savedBytes = 0;
};

} // namespace sinter::runtime
