/// KeptMemory: where an embedded model's values are, in the object and in a
/// session's memory.
#pragma once

#include "tools/sinter/embed/EmbedModel.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace sinter::cli {

/// Up to the next place.
inline uint64_t aligned(uint64_t size) {
  return (size + embedded::alignment - 1) / embedded::alignment *
         embedded::alignment;
}

/// Gives out places of a session's memory, one behind the other.
class MemoryLayout {
public:
  uint64_t take(uint64_t size) {
    uint64_t place = end;
    end += aligned(size);
    return place;
  }
  uint64_t bytes() const { return end; }

private:
  uint64_t end = embedded::sessionBytes;
};

/// Gives out places of the object's weights; the same bytes have one.
class WeightLayout {
public:
  uint64_t place(std::span<const std::byte> bytes) {
    auto [found, isNew] = places.try_emplace({bytes.data(), bytes.size()}, end);
    if (isNew) {
      all.push_back({end, bytes});
      end += aligned(bytes.size());
    }
    return found->second;
  }
  const std::vector<PlacedBytes> &list() const { return all; }
  uint64_t bytes() const { return end; }

private:
  std::map<std::pair<const std::byte *, size_t>, uint64_t> places;
  std::vector<PlacedBytes> all;
  uint64_t end = 0;
};

/// What all entries share and runs keep.
struct KeptMemory {
  /// Of each state, and of each weight, its number among what is kept; -1 of a
  /// weight that no run replaces.
  std::vector<int32_t> states, parameters;
  std::vector<embedded::Stored> stored;
  std::vector<embedded::Zeros> zeros;
  std::map<uint32_t, uint64_t> zerosOf; ///< by tensor: its place
  uint32_t numReady = 0;
  MemoryLayout memory;
  WeightLayout weights;
};

/// What one run at a time uses: as much as the entry with the most.
struct SharedMemory {
  uint64_t words = 0, buffers = 0, arguments = 0, outputs = 0; ///< numbers
  uint64_t temporaryBytes = 0, outputBytes = 0;
  uint64_t wordsAt = 0, temporariesAt = 0, outputsAt = 0;
};

} // namespace sinter::cli
