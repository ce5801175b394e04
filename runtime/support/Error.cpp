/// Names of error kinds.
#include "sinter/runtime/Error.h"

namespace sinter {

std::string_view toString(ErrorKind kind) {
  switch (kind) {
  case ErrorKind::invalid_argument:
    return "invalid_argument";
  case ErrorKind::unsupported:
    return "unsupported";
  case ErrorKind::compile:
    return "compile";
  case ErrorKind::device:
    return "device";
  case ErrorKind::out_of_memory:
    return "out_of_memory";
  case ErrorKind::io:
    return "io";
  case ErrorKind::cancelled:
    return "cancelled";
  case ErrorKind::internal:
    return "internal";
  }
  return "internal";
}

} // namespace sinter
