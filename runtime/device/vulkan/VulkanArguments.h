/// VulkanArguments: what a kernel on a Vulkan device gets.
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// Kernels that do not say that they use subgroups (the GroupNonUniform
/// capability) are those of devices whose subgroups are not known: in their
/// place are groups of so many threads.
inline constexpr uint32_t unknownSubgroup = 32;

/// The argument block of a launch, whose address is the one push constant. Dims
/// and buffer addresses follow, one word of 64 bits each.
struct VulkanArguments {
  uint64_t error;  ///< address of the error word
  uint64_t launch; ///< step number, for the error word
  uint64_t chunks;
};

} // namespace sinter::runtime
