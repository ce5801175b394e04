/// Descriptor: an open file of the system, and the errors of its calls.
#pragma once

#include "runtime/support/Result.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace sinter::runtime {

/// `PATH: WHAT: ` and what errno says, of kind io.
inline ErrorInfo systemError(const std::string &path, std::string_view what) {
  return makeError(ErrorKind::io,
                   fmt::format("{}: {}: {}", path, what, strerror(errno)));
}

/// A file descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

} // namespace sinter::runtime
