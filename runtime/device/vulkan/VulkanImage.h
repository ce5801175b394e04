/// VulkanImage: the kernels of a program on a Vulkan device.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/vulkan/VulkanQueue.h"

namespace sinter::runtime {

/// Loads the SPIR-V modules of an image, which stand one after the other, each
/// behind how many words it has. Pipelines are made by several threads. Before
/// they end, the queue's work is waited for.
Result<std::unique_ptr<Image>>
loadVulkanImage(const VulkanGpu &gpu, std::string_view device,
                VulkanQueue &queue, vulkan::PipelineCache cache,
                std::span<const std::byte> bytes);

} // namespace sinter::runtime
