/// UserCallback: the user's functions, called from code that does not throw.
#pragma once

#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <sinter/Tensor.h>

#include <exception>
#include <optional>
#include <utility>

namespace sinter::detail {

/// What a user's function threw, on its way through the runtime, which knows no
/// exceptions. Thread-local.
std::exception_ptr &thrownByUser();

/// Throws what the user's function threw, if it did.
inline void rethrowThrownByUser() {
  if (std::exception_ptr thrown = std::exchange(thrownByUser(), nullptr))
    std::rethrow_exception(thrown);
}

/// The function's result, or an error that stands for what it threw.
template <typename F>
auto callUser(F &&function) -> Result<decltype(function())> {
  try {
    return function();
  } catch (...) {
    thrownByUser() = std::current_exception();
    return makeError(ErrorKind::internal, "a user's function threw");
  }
}

/// The result of a custom function of this library, whose gradient is the
/// value's own in another form, and not one of the user's.
Tensor withOwnGradient(Tensor result);

/// Whether two nodes have one dtype, device and shape.
bool haveSameType(const graph::Node &a, const graph::Node &b);

} // namespace sinter::detail
