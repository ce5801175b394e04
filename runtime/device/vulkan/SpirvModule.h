/// SpirvModule: what a SPIR-V module says of its kernels.
#pragma once

#include "runtime/device/GivenLaunch.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// What a module begins with (SPIR-V specification 1.6, section 2.3).
inline constexpr uint32_t spirvMagic = 0x07230203;

/// A function that can be launched.
struct SpirvEntry {
  uint32_t id = 0;
  std::string name;
  uint32_t threads = 0; ///< of a workgroup
  /// Where it is not the compiler's own: it is launched so, and its arguments
  /// are the addresses of these buffers alone.
  std::optional<GivenLaunch> given;
};

/// A module's words and kernels.
struct SpirvModule {
  std::vector<uint32_t> words;
  std::vector<SpirvEntry> entries;
  bool usesSubgroups = false; ///< it asks for GroupNonUniform
  /// Threads of the groups that stand for subgroups; 0 where it has those.
  uint32_t groups = 0;
  /// What `largestSize` takes: its indices have 32 bits. Else they have 64.
  std::optional<std::string> sizes;
};

/// Takes an image apart. What is said of a given launch stands in a module's
/// OpModuleProcessed. Every length is checked; an error says what is wrong.
Result<std::vector<SpirvModule>> readSpirv(std::span<const std::byte> image);

} // namespace sinter::runtime
