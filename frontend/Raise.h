/// Throwing the runtime's errors at the user's line.
#pragma once

#include "sinter/runtime/Result.h"

#include <sinter/Arg.h>
#include <sinter/Held.h>

#include <utility>

namespace sinter::detail {

/// Throws a sinter::Error; an error that has no line yet gets `where`.
[[noreturn]] void raise(ErrorInfo error, const SourceLine &where);

/// The value, or its error thrown.
template <typename T> T unwrap(Result<T> result, const SourceLine &where) {
  if (!result) [[unlikely]]
    raise(result.takeError(), where);
  if constexpr (!std::is_void_v<T>)
    return std::move(*result);
}

} // namespace sinter::detail
