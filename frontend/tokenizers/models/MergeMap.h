/// MergeMap: what two tokens that follow each other become.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace sinter::text {

struct Merge {
  uint32_t rank; ///< the lowest is made first
  int32_t id;
};

class MergeMap {
public:
  void reserve(size_t count) {
    slots.assign(std::bit_ceil(std::max<size_t>(2 * count, 16)), {});
    shift = 64 - std::countr_zero(slots.size());
  }

  /// Adds one, or changes one that is there; `reserve` made place.
  void put(int32_t left, int32_t right, Merge merge) {
    uint64_t key = keyOf(left, right);
    size_t at = placeOf(key);
    while (slots[at].key != none && slots[at].key != key)
      at = (at + 1) & (slots.size() - 1);
    slots[at] = {key, merge};
  }

  const Merge *find(int32_t left, int32_t right) const {
    uint64_t key = keyOf(left, right);
    for (size_t at = placeOf(key); slots[at].key != none;
         at = (at + 1) & (slots.size() - 1))
      if (slots[at].key == key)
        return &slots[at].merge;
    return nullptr;
  }

private:
  static constexpr uint64_t none = UINT64_MAX; // ids have 31 bits
  struct Slot {
    uint64_t key = none;
    Merge merge = {};
  };
  std::vector<Slot> slots;
  int shift = 0;

  static uint64_t keyOf(int32_t left, int32_t right) {
    return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
  }
  size_t placeOf(uint64_t key) const {
    key ^= key >> 29;
    return size_t(key * 0x9E3779B97F4A7C15u >> shift);
  }
};

} // namespace sinter::text
