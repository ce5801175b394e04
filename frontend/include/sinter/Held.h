/// Held: what an object holds, or an Error where it holds nothing.
#pragma once

#include <source_location>

namespace sinter::detail {

/// Throws an `invalid_argument` Error `CALL: the object is empty`.
[[noreturn]] void throwEmpty(const char *call,
                             const std::source_location &where);

/// In a handler of any exception: throws an Error where memory or threads ran
/// out, and the exception again where it says something else.
[[noreturn]] void raiseExhausted(const std::source_location &where);

/// As throwEmpty for a tensor that is an operand of the call that is open.
[[noreturn]] void throwEmptyOperand(const std::source_location &where);

/// What `pointer` leads to. It is null in an object that was never given a
/// value, or was moved from.
template <typename Pointer>
auto &held(const Pointer &pointer, const char *call,
           const std::source_location &where = {}) {
  if (!pointer) [[unlikely]]
    throwEmpty(call, where);
  return *pointer;
}

} // namespace sinter::detail
