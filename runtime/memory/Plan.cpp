#include "runtime/memory/Plan.h"

#include <algorithm>
#include <limits>

using namespace sinter::runtime;

namespace {

/// The free ranges of the arena below its top, in address order, none
/// touching the next.
class FreeRanges {
public:
  FreeRanges() { ranges.reserve(64); }

  /// The smallest range that fits (the lowest of equals), else the top.
  int64_t take(int64_t bytes) {
    size_t best = ranges.size();
    int64_t bestBytes = std::numeric_limits<int64_t>::max();
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].bytes < bytes || ranges[i].bytes >= bestBytes)
        continue;
      best = i;
      bestBytes = ranges[i].bytes;
      if (bestBytes == bytes)
        break;
    }
    if (best == ranges.size())
      return growTop(bytes);
    Range &range = ranges[best];
    int64_t offset = range.offset;
    range.offset += bytes;
    range.bytes -= bytes;
    if (range.bytes == 0)
      ranges.erase(ranges.begin() + best);
    return offset;
  }

  void give(int64_t offset, int64_t bytes) {
    auto after = std::lower_bound(
        ranges.begin(), ranges.end(), offset,
        [](const Range &range, int64_t at) { return range.offset < at; });
    bool joinsAfter = after != ranges.end() && offset + bytes == after->offset;
    bool joinsBefore = after != ranges.begin() &&
                       (after - 1)->offset + (after - 1)->bytes == offset;
    if (joinsBefore && joinsAfter) {
      (after - 1)->bytes += bytes + after->bytes;
      ranges.erase(after);
    } else if (joinsBefore) {
      (after - 1)->bytes += bytes;
    } else if (joinsAfter) {
      after->offset = offset;
      after->bytes += bytes;
    } else {
      ranges.insert(after, {offset, bytes});
    }
  }

  int64_t top() const { return topBytes; }

private:
  struct Range {
    int64_t offset, bytes;
  };

  /// Takes from the end, starting in a last free range that reaches the top.
  int64_t growTop(int64_t bytes) {
    int64_t offset = topBytes;
    if (!ranges.empty() &&
        ranges.back().offset + ranges.back().bytes == topBytes) {
      offset = ranges.back().offset;
      ranges.pop_back();
    }
    topBytes = offset + bytes;
    return offset;
  }

  std::vector<Range> ranges;
  int64_t topBytes = 0;
};

/// Request indices by their first and by their last step; ties by larger size,
/// then by index, so the result is one function of the requests.
std::vector<uint32_t> order(std::span<const PlanRequest> requests,
                            uint32_t PlanRequest::*step) {
  std::vector<uint32_t> indices;
  indices.reserve(requests.size());
  for (uint32_t i = 0; i < requests.size(); ++i)
    if (requests[i].bytes > 0)
      indices.push_back(i);
  std::sort(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) {
    const PlanRequest &left = requests[a], &right = requests[b];
    if (left.*step != right.*step)
      return left.*step < right.*step;
    if (left.bytes != right.bytes)
      return left.bytes > right.bytes;
    return a < b;
  });
  return indices;
}

int64_t roundUp(int64_t bytes) {
  return (bytes + planAlignment - 1) / planAlignment * planAlignment;
}

} // namespace

MemoryPlan sinter::runtime::planMemory(std::span<const PlanRequest> requests) {
  MemoryPlan plan;
  plan.offsets.resize(requests.size());
  std::vector<uint32_t> starts = order(requests, &PlanRequest::first);
  std::vector<uint32_t> ends = order(requests, &PlanRequest::last);
  FreeRanges free;
  size_t nextEnd = 0;
  for (uint32_t index : starts) {
    const PlanRequest &request = requests[index];
    for (; nextEnd < ends.size(); ++nextEnd) {
      const PlanRequest &ended = requests[ends[nextEnd]];
      if (ended.last >= request.first)
        break;
      free.give(plan.offsets[ends[nextEnd]], roundUp(ended.bytes));
    }
    plan.offsets[index] = free.take(roundUp(request.bytes));
  }
  plan.bytes = free.top();
  return plan;
}
