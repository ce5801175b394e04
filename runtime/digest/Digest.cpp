/// Digests of bytes, in the byte order of files.
#include "runtime/digest/Digest.h"

#include "runtime/digest/WideHash.h"

#include <cstring>

using namespace sinter::runtime;

Digest sinter::runtime::toDigest(uint64_t high, uint64_t low) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, {.low64 = low, .high64 = high});
  Digest digest;
  std::memcpy(digest.data(), canonical.digest, digest.size());
  return digest;
}

Digest sinter::runtime::digestOf(std::span<const std::byte> bytes) {
  XXH128_hash_t hash = wideHash()(bytes.data(), bytes.size());
  return toDigest(hash.high64, hash.low64);
}
