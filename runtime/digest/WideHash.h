/// WideHash: xxh3-128 with the widest vectors of this processor.
#pragma once

#include <xxhash.h>

#include <cstddef>

namespace sinter::runtime {

/// What `XXH3_128bits` gives, in each of the ways it is compiled.
using HashFunction = XXH128_hash_t (*)(const void *data, size_t bytes);

#if defined(__x86_64__)
XXH128_hash_t hashAvx2(const void *data, size_t bytes);
XXH128_hash_t hashAvx512(const void *data, size_t bytes);
#endif

/// The fastest one that this processor runs.
HashFunction wideHash();

} // namespace sinter::runtime
