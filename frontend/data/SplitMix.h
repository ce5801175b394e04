/// SplitMix64: the random numbers of orders.
#pragma once

#include <cstdint>

namespace sinter::data {

/// A sequence of numbers that only its seed decides.
class SplitMix {
public:
  explicit SplitMix(uint64_t seed) : state(seed) {}
  /// Unrelated to the sequences of other streams of the seed.
  SplitMix(uint64_t seed, uint64_t stream) : state(SplitMix(seed).next()) {
    state = SplitMix(state ^ SplitMix(~stream).next()).next();
  }

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }

  /// A number below `bound`, every one equally likely.
  uint64_t below(uint64_t bound) {
    uint64_t rejected = -bound % bound; // 2^64 mod bound
    uint64_t bits = next();
    while (bits < rejected)
      bits = next();
    return bits % bound;
  }

  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace sinter::data
