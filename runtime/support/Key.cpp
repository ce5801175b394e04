/// Keys as digits, and of texts.
#include "runtime/support/Key.h"

#include <fmt/format.h>
#include <xxhash.h>

using namespace sinter::runtime;

std::string sinter::runtime::toHex(const Key &key) {
  return fmt::format("{:016x}{:016x}", key.high, key.low);
}

Key sinter::runtime::keyOfText(std::string_view text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}
