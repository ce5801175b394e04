/// VulkanArguments: what a kernel on a Vulkan device gets.
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// The argument block of a launch, whose address is the one push constant. Dims
/// and buffer addresses follow, one word of 64 bits each.
struct VulkanArguments {
  uint64_t error;  ///< address of the error word
  uint64_t launch; ///< step number, for the error word
  uint64_t chunks;
};

} // namespace sinter::runtime
