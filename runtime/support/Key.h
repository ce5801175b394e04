/// Key: what programs, kernels and cache entries are looked up by.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// 128-bit key of a graph with everything its program depends on, or of a text
/// that says the same of something else.
struct Key {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Key &) const = default;
};
std::string toHex(const Key &key); ///< 32 digits

/// The key of what a text names.
Key keyOfText(std::string_view text);

} // namespace sinter::runtime
