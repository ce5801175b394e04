/// WorkOrder: what of a program's work has to wait for what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter::runtime {

/// Bytes of a device's memory.
struct MemoryRange {
  uintptr_t begin = 0;
  size_t bytes = 0;
  bool overlaps(const MemoryRange &other) const {
    return begin < other.begin + other.bytes && other.begin < begin + bytes;
  }
};

/// A launch or copy, by what it touches. What it may read and write counts as
/// written.
struct WorkItem {
  std::vector<MemoryRange> reads;
  std::vector<MemoryRange> writes;
  /// May set the program's error word.
  bool reports = false;
  /// Writes memory that the caller gave up, which an error must leave alone.
  bool overwrites = false;
};

/// Where an item goes.
struct WorkPlace {
  /// Parts run one after the other. What overwrites is in a later part than
  /// all items before it that report: between the two the host looks. Where
  /// the items before last longer than that, what comes behind is in the later
  /// part too: it may run at once with what overwrites.
  uint32_t part = 0;
  /// Items of the part that must have ended, ascending. No item follows from
  /// the others.
  std::vector<uint32_t> after;
};

/// Keeps the order of items of which one writes what the other touches, and
/// lets at most `lanes` items of a part run at once. The places of all items.
std::vector<WorkPlace> orderWork(std::span<const WorkItem> items,
                                 uint32_t lanes);

} // namespace sinter::runtime
