/// VulkanGraph: launches and copies recorded once, repeated by one submission.
#pragma once

#include "runtime/device/WorkGraph.h"
#include "runtime/device/vulkan/VulkanCopies.h"
#include "runtime/device/vulkan/VulkanQueue.h"

#include <memory>

namespace sinter::runtime {

/// Records the nodes for a queue. Places of copies and of the word are those of
/// `memory`.
Result<std::unique_ptr<WorkGraph>>
makeVulkanGraph(const VulkanGpu &gpu, std::string device, VulkanQueue &queue,
                const VulkanMemory &memory, VulkanCopies &copies,
                std::span<const GraphNode> nodes, const WatchedWord &word);

} // namespace sinter::runtime
