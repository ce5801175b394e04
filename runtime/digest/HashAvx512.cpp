/// Compiled for processors with AVX-512. Nothing of it may be used by other
/// files: the header's functions are all of this file alone, and it includes no
/// other.
#include "runtime/digest/WideHash.h"

XXH128_hash_t sinter::runtime::hashAvx512(const void *data, size_t bytes) {
  return XXH3_128bits(data, bytes);
}
