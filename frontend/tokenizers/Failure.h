/// Failure: what is wrong, on its way to the user's line.
#pragma once

#include "sinter/runtime/Error.h"

#include <string>
#include <utility>

namespace sinter::text {

/// Thrown within this folder alone; public calls make an Error of it.
struct Failure {
  ErrorInfo error;
};

[[noreturn]] inline void fail(ErrorKind kind, std::string message) {
  ErrorInfo error;
  error.kind = kind;
  error.message = std::move(message);
  throw Failure{std::move(error)};
}

} // namespace sinter::text
