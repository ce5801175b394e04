/// GivenLaunch: how a kernel that is not the compiler's own is launched.
#pragma once

#include "sinter/runtime/Result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// The kernel's parameters are the addresses of buffers.
struct GivenLaunch {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}; ///< x, y, z
  uint32_t sharedBytes = 0;
  std::vector<uint32_t> buffers; ///< numbers among the kernel's
};

/// The line of PTX, a comment, that says it of `kernel`. PTX has no other place
/// for it.
std::string givenLaunchLine(std::string_view kernel, const GivenLaunch &launch);

/// What a line of a text says of `kernel`, if one does; an error of kind `io`
/// where it is damaged.
Result<std::optional<GivenLaunch>> givenLaunchOf(std::string_view text,
                                                 std::string_view kernel);

} // namespace sinter::runtime
