/// What sizes are right.
#include "runtime/capi/Structs.h"

using namespace sinter;

static constexpr size_t largest = 4096; // larger is memory that nobody set

Status capi::checkStructSize(size_t size, size_t least, const char *what) {
  if (size < least || size > largest)
    return invalid(fmt::format("the struct_size of {} is {}, it has to be at "
                               "least {}",
                               what, size, least));
  return {};
}

Status capi::checkUnknown(const void *data, size_t known, size_t size,
                          const char *what) {
  const auto *bytes = static_cast<const unsigned char *>(data);
  for (size_t i = known; i < size; ++i)
    if (bytes[i] != 0)
      return makeError(ErrorKind::unsupported,
                       fmt::format("{} has fields that this version of Sinter "
                                   "does not know",
                                   what));
  return {};
}
