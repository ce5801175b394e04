/// Numbers within a block.
#pragma once

#include "runtime/support/HalfFloat.h"

#include <cstdint>
#include <cstring>

namespace sinter::runtime::gguf {

/// Elements of the larger blocks.
inline constexpr int superBlock = 256;

inline uint16_t u16At(const uint8_t *at) {
  uint16_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
inline uint32_t u32At(const uint8_t *at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}
inline float halfAt(const uint8_t *at) { return fromHalf(u16At(at)); }

/// The low (`which` 0) or high (1) half of a byte.
inline int nibble(uint8_t byte, int which) { return (byte >> 4 * which) & 15; }

} // namespace sinter::runtime::gguf
