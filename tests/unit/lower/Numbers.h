/// Numbers to compute with, as the bytes of a type.
#pragma once

#include "runtime/support/HalfFloat.h"

#include <cstdint>
#include <string>
#include <vector>

namespace sinter::compiler {

using Bytes = std::vector<uint8_t>;

template <typename T> void append(Bytes &bytes, T value) {
  const auto *first = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

inline size_t widthOf(const std::string &type) {
  if (type == "f64" || type == "i64")
    return 8;
  return type == "f32" ? 4 : 2;
}

/// In [-2, 2), integers in [-200, 200); those of one seed are the same.
inline Bytes numbers(const std::string &type, int64_t count, uint32_t seed) {
  Bytes bytes;
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525 + 1013904223;
    double value = double(int32_t(seed >> 8) - (1 << 23)) / (1 << 22);
    if (type == "f64")
      append(bytes, value);
    else if (type == "f32")
      append(bytes, float(value));
    else if (type == "i64")
      append(bytes, int64_t(value * 100));
    else if (type == "f16")
      append(bytes, toHalf(float(value)));
    else
      append(bytes, toBfloat16(float(value)));
  }
  return bytes;
}

} // namespace sinter::compiler
