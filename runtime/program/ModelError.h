/// The error about a model file that cannot be trusted.
#pragma once

#include "sinter/runtime/Result.h"

#include <fmt/format.h>
#include <utility>

namespace sinter::runtime {

/// `model file: ` and what is wrong, of kind `io`.
template <typename... Args>
ErrorInfo brokenModel(fmt::format_string<Args...> format, Args &&...args) {
  return makeError(ErrorKind::io,
                   "model file: " +
                       fmt::format(format, std::forward<Args>(args)...));
}

} // namespace sinter::runtime
