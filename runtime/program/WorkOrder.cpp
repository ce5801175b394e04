/// Finds what an item waits for, and spreads items over lanes.
#include "runtime/program/WorkOrder.h"

#include <algorithm>

using namespace sinter::runtime;

namespace {

bool overlaps(std::span<const MemoryRange> some,
              std::span<const MemoryRange> others) {
  for (const MemoryRange &one : some)
    for (const MemoryRange &other : others)
      if (one.overlaps(other))
        return true;
  return false;
}

bool mustKeepOrder(const WorkItem &first, const WorkItem &second) {
  return overlaps(first.writes, second.writes) ||
         overlaps(first.writes, second.reads) ||
         overlaps(first.reads, second.writes);
}

/// Items by number; their numbers are below a limit.
class ItemSet {
public:
  explicit ItemSet(size_t limit) : words((limit + 63) / 64) {}
  bool holds(uint32_t item) const { return words[item / 64] >> item % 64 & 1; }
  void insert(uint32_t item) { words[item / 64] |= uint64_t(1) << item % 64; }
  void insert(const ItemSet &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] |= other.words[i];
  }

private:
  std::vector<uint64_t> words;
};

class Orderer {
public:
  Orderer(std::span<const WorkItem> items, uint32_t lanes)
      : items(items), numLanes(lanes) {}

  std::vector<WorkPlace> run() {
    for (uint32_t i = 0; i < items.size(); ++i)
      place(i);
    return std::move(places);
  }

private:
  void place(uint32_t item);
  void takeLane(uint32_t item, ItemSet &known, std::vector<uint32_t> &after);

  std::span<const WorkItem> items;
  const uint32_t numLanes;
  std::vector<WorkPlace> places;
  /// Of each item: those that have ended when it starts.
  std::vector<ItemSet> earlier;
  std::vector<std::vector<uint32_t>> lanes; ///< of each part: the last items
  uint32_t partAfterReports = 0;
};

void Orderer::place(uint32_t item) {
  ItemSet known(items.size());
  std::vector<uint32_t> direct;
  for (uint32_t other = item; other-- > 0;) {
    if (known.holds(other) || !mustKeepOrder(items[other], items[item]))
      continue;
    direct.push_back(other);
    known.insert(earlier[other]);
    known.insert(other);
  }
  WorkPlace own;
  for (uint32_t other : direct)
    own.part = std::max(own.part, places[other].part);
  if (items[item].overwrites)
    own.part = std::max(own.part, partAfterReports);
  if (items[item].reports)
    partAfterReports = std::max(partAfterReports, own.part + 1);
  for (uint32_t other : direct)
    if (places[other].part == own.part)
      own.after.push_back(other);
  lanes.resize(std::max<size_t>(lanes.size(), own.part + 1));
  places.push_back(own);
  takeLane(item, known, places.back().after);
  std::ranges::sort(places.back().after);
  earlier.push_back(std::move(known));
}

/// Goes behind the last item of a lane that has ended anyway, the newest; else
/// opens a lane; else waits for the oldest.
void Orderer::takeLane(uint32_t item, ItemSet &known,
                       std::vector<uint32_t> &after) {
  std::vector<uint32_t> &ends = lanes[places[item].part];
  uint32_t *best = nullptr;
  for (uint32_t &end : ends)
    if (known.holds(end) && (!best || end > *best))
      best = &end;
  if (best) {
    *best = item;
  } else if (ends.size() < numLanes) {
    ends.push_back(item);
  } else {
    uint32_t &oldest = *std::ranges::min_element(ends);
    after.push_back(oldest);
    known.insert(earlier[oldest]);
    known.insert(oldest);
    std::erase_if(after, [&](uint32_t other) {
      return other != oldest && earlier[oldest].holds(other);
    });
    oldest = item;
  }
}

} // namespace

std::vector<WorkPlace>
sinter::runtime::orderWork(std::span<const WorkItem> items, uint32_t lanes) {
  return Orderer(items, lanes).run();
}
