/// Guarded: the edges at which memory that runs out becomes an error.
#pragma once

#include "sinter/runtime/Result.h"

#include <optional>
#include <type_traits>

namespace sinter::compiler {

namespace detail {
/// Null, or the error of the exception that `work(context)` ended by.
std::optional<ErrorInfo> callGuarded(void (*work)(void *), void *context);
} // namespace detail

/// What `work` gives, a Result; an error when memory or threads ran out in it.
///
/// LLVM and most of the compiler know no exceptions: what is open inside `work`
/// then is not closed, its memory is lost, and nothing of it may be used again.
/// What this thread asks for after that is done on threads of their own.
/// So whatever others wait for (locks, claims) or the system keeps (files)
/// belongs outside of `work`.
template <typename Work> auto guarded(Work work) -> decltype(work()) {
  using Given = decltype(work());
  struct Call {
    Work &work;
    std::optional<Given> given;
  } call{work, std::nullopt};
  auto error = detail::callGuarded(
      [](void *context) {
        auto &call = *static_cast<Call *>(context);
        call.given.emplace(call.work());
      },
      &call);
  if (error)
    return std::move(*error);
  return std::move(*call.given);
}

} // namespace sinter::compiler
