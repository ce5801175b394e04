/// VulkanArguments: what a kernel on a Vulkan device gets.
#pragma once

#include <cstdint>
#include <string_view>

namespace sinter::runtime {

/// In place of subgroups, kernels of devices where those are not known have
/// groups of so many threads.
inline constexpr uint32_t unknownSubgroup = 32;
/// What begins the text of a module's OpModuleProcessed that says of how many
/// threads such groups are; without one they are the device's subgroups.
inline constexpr std::string_view groupsKeyword = "groups ";

/// The argument block of a launch, whose address is the one push constant. Dims
/// and buffer addresses follow, one word of 64 bits each.
struct VulkanArguments {
  uint64_t error;  ///< address of the error word
  uint64_t launch; ///< step number, for the error word
  uint64_t chunks;
};

} // namespace sinter::runtime
