/// Exhausted: what a thrown exception says about memory and threads, as a
/// value, for those who must not throw.
#pragma once

#include "sinter/runtime/Result.h"

#include <type_traits>

namespace sinter {

/// The error of memory that ran out. Takes no memory itself.
ErrorInfo outOfMemory();

/// The error that the exception being handled stands for, when memory, threads
/// or another resource of the system ran out; any other is thrown on. Only
/// where an exception is being handled. Takes no memory itself.
ErrorInfo exhausted();

/// What `function` gives, a Result; an error when a resource ran out in it.
template <typename F> auto orExhausted(F &&function) -> decltype(function()) {
  try {
    return function();
  } catch (...) {
    return exhausted();
  }
}

/// Does what may be left out when a resource runs out: notes, caches.
template <typename F> void ifPossible(F &&function) {
  try {
    function();
  } catch (...) {
    static_cast<void>(exhausted());
  }
}

} // namespace sinter
