/// Random orders that are the same on every machine.
#include <sinter/data/Shuffle.h>

#include <numeric>
#include <utility>

namespace sinter::data {

namespace {

/// SplitMix64: the next number of a sequence, and its state moved on.
uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// A number below `bound`, every one equally likely.
uint64_t randomBelow(uint64_t bound, uint64_t &state) {
  uint64_t rejected = -bound % bound; // 2^64 mod bound
  uint64_t bits = nextRandom(state);
  while (bits < rejected)
    bits = nextRandom(state);
  return bits % bound;
}

} // namespace

std::vector<int64_t> shuffled(int64_t count, uint64_t seed) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), int64_t{0});
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[randomBelow(i + 1, seed)]);
  return order;
}

} // namespace sinter::data
