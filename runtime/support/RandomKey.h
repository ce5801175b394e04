/// RandomKey: the key of a generator of random numbers, from a seed.
#pragma once

#include <cstdint>

namespace sinter {

/// Mixes bits so that close numbers give unrelated ones.
inline uint64_t mixBits(uint64_t z) {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// 128 bits, in two halves.
struct RandomKey {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const RandomKey &) const = default;

  static RandomKey ofSeed(uint64_t seed) {
    return {mixBits(seed), mixBits(seed ^ 0x5851F42D4C957F2D)};
  }
};

} // namespace sinter
