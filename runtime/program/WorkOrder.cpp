/// Finds what an item waits for, and spreads items over lanes.
#include "runtime/program/WorkOrder.h"

#include <algorithm>
#include <iterator>

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
      findNeeds(i);
    places.resize(items.size());
    for (uint32_t i = 0; i < items.size(); ++i)
      places[i].part = earliestPart(i);
    for (uint32_t part = 0; part < partAfterReports; ++part)
      leaveToNext(part);
    lanes.resize(partAfterReports + 1);
    for (uint32_t i = 0; i < items.size(); ++i)
      takeLane(i);
    return std::move(places);
  }

private:
  void findNeeds(uint32_t item);
  uint32_t earliestPart(uint32_t item);
  void leaveToNext(uint32_t part);
  void takeLane(uint32_t item);

  std::span<const WorkItem> items;
  const uint32_t numLanes;
  std::vector<WorkPlace> places;
  /// Of each item: those that have ended when it starts.
  std::vector<ItemSet> earlier;
  /// Of each item: those that it waits for and that no other of them does.
  std::vector<std::vector<uint32_t>> direct;
  std::vector<std::vector<uint32_t>> lanes; ///< of each part: the last items
  uint32_t partAfterReports = 0;
};

void Orderer::findNeeds(uint32_t item) {
  ItemSet known(items.size());
  std::vector<uint32_t> needs;
  for (uint32_t other = item; other-- > 0;) {
    if (known.holds(other) || !mustKeepOrder(items[other], items[item]))
      continue;
    needs.push_back(other);
    known.insert(earlier[other]);
    known.insert(other);
  }
  earlier.push_back(std::move(known));
  direct.push_back(std::move(needs));
}

uint32_t Orderer::earliestPart(uint32_t item) {
  uint32_t part = items[item].overwrites ? partAfterReports : 0;
  for (uint32_t other : direct[item])
    part = std::max(part, places[other].part);
  if (items[item].reports)
    partAfterReports = std::max(partAfterReports, part + 1);
  return part;
}

/// Moves what stands behind the first item of the next part there, except what
/// reports need. Some launches stay, which take longer than the host's look.
void Orderer::leaveToNext(uint32_t part) {
  constexpr uint32_t enough = 8;
  ItemSet needed(items.size());
  for (uint32_t i = 0; i < items.size(); ++i)
    if (items[i].reports && places[i].part == part) {
      needed.insert(i);
      needed.insert(earlier[i]);
    }
  uint32_t stay = 0;
  bool isNext = false;
  for (uint32_t i = 0; i < items.size(); ++i) {
    isNext |= places[i].part == part + 1;
    if (places[i].part != part)
      continue;
    if (isNext && stay >= enough && !needed.holds(i))
      places[i].part = part + 1;
    else
      ++stay;
  }
}

/// Goes behind the last item of a lane that has ended anyway, the newest; else
/// opens a lane; else waits for the oldest.
void Orderer::takeLane(uint32_t item) {
  ItemSet &known = earlier[item];
  std::vector<uint32_t> waits; // for items of its part
  for (uint32_t other : direct[item]) {
    known.insert(earlier[other]);
    if (places[other].part == places[item].part)
      waits.push_back(other);
  }
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
    waits.push_back(oldest);
    known.insert(earlier[oldest]);
    known.insert(oldest);
    oldest = item;
  }
  std::ranges::sort(waits);
  // Those that no other one waits for.
  std::ranges::copy_if(waits, std::back_inserter(places[item].after),
                       [&](uint32_t other) {
                         return std::ranges::none_of(waits, [&](uint32_t each) {
                           return earlier[each].holds(other);
                         });
                       });
}

} // namespace

std::vector<WorkPlace>
sinter::runtime::orderWork(std::span<const WorkItem> items, uint32_t lanes) {
  return Orderer(items, lanes).run();
}
