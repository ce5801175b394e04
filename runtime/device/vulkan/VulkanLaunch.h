/// VulkanLaunch: what a launch pushes and dispatches.
#pragma once

#include "runtime/device/WorkGraph.h"
#include "runtime/device/vulkan/VulkanQueue.h"

namespace sinter::runtime {

/// A dispatch with the words that it points to.
struct VulkanLaunch {
  vulkan::Pipeline pipeline = nullptr;
  /// VulkanArguments, dims and addresses; of a given kernel addresses alone.
  std::vector<uint64_t> words;
  uint32_t columns = 0; ///< workgroups; 0 where there is nothing to do
  uint32_t rows = 1, layers = 1;

  VulkanDispatch dispatch() const {
    return {pipeline, words, columns, rows, layers};
  }
};

/// Fills in `launch`, whose memory is used again. A launch of more workgroups
/// than the device takes in a row has several rows.
Status packLaunch(const VulkanGpu &gpu, std::string_view device,
                  const LaunchArgs &args, VulkanLaunch &launch);

} // namespace sinter::runtime
