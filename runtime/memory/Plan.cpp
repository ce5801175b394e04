/// Best fit over live intervals, in the order of the steps.
#include "runtime/memory/Plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

using namespace sinter::runtime;

namespace {

/// Where a range of so many granules begins that ends no block's at or above
/// `top`.
uint64_t startAbove(uint64_t top, uint64_t size, uint64_t block) {
  return top % block + size > block ? (top / block + 1) * block : top;
}

/// The free ranges of the arena below its top, in address order. Of those in
/// one block none touches the next. In granules of `planAlignment` bytes. A
/// list, which is the fastest where there are few.
class FreeRanges {
public:
  explicit FreeRanges(uint64_t block) : block(block) {}

  /// The smallest range that fits (the lowest of equals), else the top.
  uint64_t take(uint64_t size) {
    // One pass without branches: the least (size, position).
    uint64_t best = none;
    for (uint64_t i = 0; i < sizes.size(); ++i) {
      uint64_t candidate = sizes[i] << positionBits | i;
      best = std::min(best, sizes[i] >= size ? candidate : none);
    }
    if (best == none)
      return growTop(size);
    size_t at = best & ((uint64_t(1) << positionBits) - 1);
    uint64_t offset = offsets[at];
    offsets[at] += size;
    sizes[at] -= size;
    if (sizes[at] == 0)
      erase(at);
    return offset;
  }

  void give(uint64_t offset, uint64_t size) {
    size_t after =
        size_t(std::lower_bound(offsets.begin(), offsets.end(), offset) -
               offsets.begin());
    bool joinsAfter = after < offsets.size() &&
                      offset + size == offsets[after] &&
                      offsets[after] % block != 0;
    bool joinsBefore = after > 0 &&
                       offsets[after - 1] + sizes[after - 1] == offset &&
                       offset % block != 0;
    if (joinsBefore) {
      sizes[after - 1] += size;
      if (joinsAfter) {
        sizes[after - 1] += sizes[after];
        erase(after);
      }
    } else if (joinsAfter) {
      offsets[after] = offset;
      sizes[after] += size;
    } else {
      offsets.insert(offsets.begin() + after, offset);
      sizes.insert(sizes.begin() + after, size);
    }
  }

private:
  /// Ranges are fewer than requests, and those fewer than 2^20.
  static constexpr unsigned positionBits = 20;
  static constexpr uint64_t none = ~uint64_t(0);

  void erase(size_t at) {
    offsets.erase(offsets.begin() + at);
    sizes.erase(sizes.begin() + at);
  }

  /// Takes from the end, starting in a last free range that reaches the top.
  /// What is left of a block that is too short becomes free.
  uint64_t growTop(uint64_t size) {
    uint64_t offset = topGranules;
    if (!offsets.empty() && offsets.back() + sizes.back() == topGranules &&
        topGranules % block != 0) {
      offset = offsets.back();
      erase(offsets.size() - 1);
    }
    uint64_t start = startAbove(offset, size, block);
    if (start > offset) {
      offsets.push_back(offset);
      sizes.push_back(start - offset);
    }
    topGranules = start + size;
    return start;
  }

  const uint64_t block;
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> sizes;
  uint64_t topGranules = 0;
};

/// The same for many requests: the time for one grows with the logarithm of the
/// number of ranges.
class ManyFreeRanges {
public:
  explicit ManyFreeRanges(uint64_t block) : block(block) {}

  uint64_t take(uint64_t size) {
    auto best = bySize.lower_bound({size, 0});
    if (best == bySize.end())
      return growTop(size);
    auto [free, offset] = *best;
    remove(offset, free);
    if (free > size)
      insert(offset + size, free - size);
    return offset;
  }

  void give(uint64_t offset, uint64_t size) {
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.end() && after->first == offset + size &&
        after->first % block != 0) {
      auto [next, more] = *after;
      remove(next, more);
      size += more;
    }
    after = byOffset.lower_bound(offset);
    if (after != byOffset.begin() && offset % block != 0) {
      auto [start, before] = *std::prev(after);
      if (start + before == offset) {
        remove(start, before);
        offset = start;
        size += before;
      }
    }
    insert(offset, size);
  }

private:
  void insert(uint64_t offset, uint64_t size) {
    byOffset.emplace(offset, size);
    bySize.emplace(size, offset);
  }
  void remove(uint64_t offset, uint64_t size) {
    byOffset.erase(offset);
    bySize.erase({size, offset});
  }

  uint64_t growTop(uint64_t size) {
    uint64_t offset = topGranules;
    if (!byOffset.empty() && topGranules % block != 0) {
      auto [start, free] = *std::prev(byOffset.end());
      if (start + free == topGranules) {
        remove(start, free);
        offset = start;
      }
    }
    uint64_t start = startAbove(offset, size, block);
    if (start > offset)
      insert(offset, start - offset);
    topGranules = start + size;
    return start;
  }

  const uint64_t block;
  std::map<uint64_t, uint64_t> byOffset;
  std::set<std::pair<uint64_t, uint64_t>> bySize; ///< (size, offset)
  uint64_t topGranules = 0;
};

/// Indices of the requests that are not empty, by the given step, then by
/// index: a counting sort, as steps are small numbers.
std::vector<uint32_t> orderBy(std::span<const PlanRequest> requests,
                              uint32_t PlanRequest::*step, uint32_t steps) {
  std::vector<uint32_t> starts(size_t(steps) + 1);
  for (const PlanRequest &request : requests)
    if (request.bytes > 0)
      ++starts[request.*step + 1];
  for (uint32_t i = 0; i < steps; ++i)
    starts[i + 1] += starts[i];
  std::vector<uint32_t> indices(starts[steps]);
  for (uint32_t i = 0; i < requests.size(); ++i)
    if (requests[i].bytes > 0)
      indices[starts[requests[i].*step]++] = i;
  return indices;
}

/// Within one step, larger requests are placed first.
void largerFirst(std::span<const PlanRequest> requests,
                 std::vector<uint32_t> &starts) {
  auto larger = [&](uint32_t a, uint32_t b) {
    if (requests[a].bytes != requests[b].bytes)
      return requests[a].bytes > requests[b].bytes;
    return a < b;
  };
  for (size_t i = 0, end = 0; i < starts.size(); i = end) {
    uint32_t step = requests[starts[i]].first;
    while (end < starts.size() && requests[starts[end]].first == step)
      ++end;
    std::sort(starts.begin() + i, starts.begin() + end, larger);
  }
}

uint64_t granules(int64_t bytes) {
  return uint64_t(bytes + planAlignment - 1) / uint64_t(planAlignment);
}

/// Of each block what its requests reach.
void sizeBlocks(std::span<const PlanRequest> requests, MemoryPlan &plan) {
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes == 0)
      continue;
    auto block = size_t(plan.offsets[i] / plan.stride);
    plan.blocks.resize(std::max(plan.blocks.size(), block + 1));
    int64_t &bytes = plan.blocks[block];
    bytes = std::max(bytes,
                     plan.offsets[i] % plan.stride +
                         int64_t(granules(requests[i].bytes)) * planAlignment);
  }
}

template <typename Ranges>
MemoryPlan planWith(std::span<const PlanRequest> requests, int64_t stride) {
  MemoryPlan plan;
  plan.stride = stride;
  plan.offsets.resize(requests.size());
  uint32_t steps = 0;
  for (const PlanRequest &request : requests)
    steps = std::max(steps, request.last + 1);
  std::vector<uint32_t> starts = orderBy(requests, &PlanRequest::first, steps);
  std::vector<uint32_t> ends = orderBy(requests, &PlanRequest::last, steps);
  largerFirst(requests, starts);
  Ranges free(uint64_t(stride / planAlignment));
  size_t nextEnd = 0;
  for (uint32_t index : starts) {
    const PlanRequest &request = requests[index];
    for (; nextEnd < ends.size(); ++nextEnd) {
      const PlanRequest &ended = requests[ends[nextEnd]];
      if (ended.last >= request.first)
        break;
      free.give(uint64_t(plan.offsets[ends[nextEnd]] / planAlignment),
                granules(ended.bytes));
    }
    plan.offsets[index] =
        int64_t(free.take(granules(request.bytes))) * planAlignment;
  }
  sizeBlocks(requests, plan);
  return plan;
}

} // namespace

int64_t MemoryPlan::bytes() const {
  return std::accumulate(blocks.begin(), blocks.end(), int64_t(0));
}

MemoryPlan sinter::runtime::planMemory(std::span<const PlanRequest> requests,
                                       int64_t most) {
  constexpr size_t few = 4096;
  int64_t stride = std::max(most / planAlignment, int64_t(1)) * planAlignment;
  for (const PlanRequest &request : requests)
    stride = std::max(stride, int64_t(granules(request.bytes)) * planAlignment);
  return requests.size() <= few ? planWith<FreeRanges>(requests, stride)
                                : planWith<ManyFreeRanges>(requests, stride);
}
