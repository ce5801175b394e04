/// The errors of the system's calls on files.
#pragma once

#include "sinter/runtime/Result.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// `PATH: WHAT: ` and what errno says, of kind io.
inline ErrorInfo systemError(const std::string &path, std::string_view what) {
  return makeError(ErrorKind::io,
                   fmt::format("{}: {}: {}", path, what, strerror(errno)));
}

} // namespace sinter::runtime
