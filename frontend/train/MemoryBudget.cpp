/// Asks devices what is left, and looks for the batch that fits.
#include <sinter/MemoryBudget.h>

#include "frontend/Raise.h"
#include "runtime/device/Device.h"
#include "runtime/memory/MemoryBudget.h"

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

/// Of a device whose memory is the process's own: what the machine and the
/// limits say, without what its allocator keeps back.
static uint64_t freeOfMachine(const runtime::MemoryInfo &info) {
  runtime::MemoryBudget machine = runtime::MemoryBudget::detect();
  uint64_t kept = info.reserved - std::min(info.reserved, info.inUse);
  uint64_t left = machine.total - std::min(machine.inUse, machine.total) + kept;
  return std::min<uint64_t>(left, info.total);
}

MemoryBudget MemoryBudget::detect(DeviceId id, uint64_t reserve,
                                  std::source_location where) try {
  runtime::Device *device = detail::unwrap(runtime::getDevice(id), where);
  runtime::MemoryInfo info = device->memoryInfo();
  MemoryBudget budget;
  budget.device = id;
  budget.total = info.total;
  budget.own = info.inUse;
  budget.limit = info.available;
  budget.free = std::min<uint64_t>(
      device->sharesHostMemory() ? freeOfMachine(info) : info.available,
      info.total);
  budget.in_use = budget.total - budget.free;
  budget.reserve = reserve;
  return budget;
} catch (...) {
  detail::raiseExhausted(where);
}

MemoryBudget MemoryBudget::detect(std::string_view name, uint64_t reserve,
                                  std::source_location where) {
  return detect(sinter::device(name), reserve, where);
}

uint64_t MemoryBudget::safe() const {
  return std::min(limit, free > reserve ? free - reserve : 0);
}

std::vector<BatchMemory>
MemoryBudget::planAll(const Planner &plan,
                      std::span<const int64_t> batches) const {
  std::vector<BatchMemory> all;
  for (int64_t batch : batches) {
    StepMemory memory = plan(batch);
    all.push_back({batch, memory, fits(memory)});
  }
  return all;
}

BatchMemory MemoryBudget::findLargest(const Planner &plan,
                                      const BatchSearch &search,
                                      std::source_location where) const {
  int64_t unit = search.multiple_of;
  if (search.least < 1 || search.most < search.least || unit < 1)
    detail::raise(
        makeError(ErrorKind::invalid_argument,
                  fmt::format("largest_batch: no sizes from {} to {} that are "
                              "multiples of {}",
                              search.least, search.most, unit),
                  "largest_batch"),
        where);
  auto planned = [&](int64_t units) {
    StepMemory memory = plan(units * unit);
    return BatchMemory{units * unit, memory, fits(memory)};
  };
  int64_t low = (search.least - 1) / unit + 1, most = search.most / unit;
  if (low > most)
    detail::raise(makeError(ErrorKind::invalid_argument,
                            fmt::format("largest_batch: no multiple of {} is "
                                        "from {} to {}",
                                        unit, search.least, search.most),
                            "largest_batch"),
                  where);
  BatchMemory best = planned(low);
  if (!best.fits) {
    best.batch = 0;
    return best;
  }
  // Doubled while it fits, then halved between what does and what does not.
  int64_t high = most + 1;
  while (low < most) {
    int64_t next = std::min(most, low > most / 2 ? most : low * 2);
    BatchMemory tried = planned(next);
    if (!tried.fits) {
      high = next;
      break;
    }
    best = tried;
    low = next;
  }
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    BatchMemory tried = planned(middle);
    (tried.fits ? low : high) = middle;
    if (tried.fits)
      best = tried;
  }
  return best;
}

std::string megabytes(uint64_t bytes) {
  return fmt::format("{:.1f} MB", double(bytes) / 1e6);
}

std::string to_string(const MemoryBudget &budget) try {
  return fmt::format("{}: {} in total, {} in use ({} by this process), {} "
                     "free, {} in reserve, {} safe",
                     toString(budget.device), megabytes(budget.total),
                     megabytes(budget.in_use), megabytes(budget.own),
                     megabytes(budget.free), megabytes(budget.reserve),
                     megabytes(budget.safe()));
} catch (...) {
  detail::raiseExhausted({});
}

} // namespace sinter
