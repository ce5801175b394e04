/// Tells exceptions of resources that ran out from others.
#include "runtime/support/Exhausted.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace sinter {

// The texts here have up to 15 characters: they need no memory of their own.

ErrorInfo outOfMemory() {
  return makeError(ErrorKind::out_of_memory, "out of memory");
}

ErrorInfo exhausted() {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    return outOfMemory();
  } catch (const std::length_error &) {
    return outOfMemory();
  } catch (const std::system_error &error) {
    bool isOfThreads =
        error.code() == std::errc::resource_unavailable_try_again;
    return makeError(ErrorKind::out_of_memory,
                     isOfThreads ? "no more threads" : "system error");
  }
}

} // namespace sinter
