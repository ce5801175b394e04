/// Memory, copies and events of devices in this process.
#include "runtime/device/HostDevice.h"

#include "runtime/device/ThreadPool.h"
#include "runtime/memory/MemoryBudget.h"
#include "runtime/support/Flags.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Work has ended before anybody can ask.
class DoneEvent final : public Event {
public:
  bool done() const override { return true; }
  Status wait() override { return {}; }
};

/// What buffers may take together. Without a flag all but the reserve: more
/// would end in the kernel's out-of-memory killer, not in an error.
size_t memoryLimit() {
  if (flags().memoryLimit > 0)
    return size_t(flags().memoryLimit);
  MemoryBudget budget = MemoryBudget::detect();
  return budget.total - budget.reserve;
}

/// One copy in parts that threads take. A part ends where a huge page of the
/// target does: new memory is cleared page by page, by who writes there first.
class PartedCopy {
public:
  PartedCopy(char *to, const std::byte *from, size_t bytes)
      : to(to), from(from), bytes(bytes) {}

  void run() {
    if (bytes < least)
      return copy(0, int64_t(bytes));
    sinter_parallel_for(
        [](void *context, int64_t first, int64_t last) {
          auto &self = *static_cast<PartedCopy *>(context);
          self.copy(self.startOf(first), self.startOf(last));
        },
        this, int64_t((bytes + lead() + part - 1) / part));
  }

private:
  static constexpr size_t part = size_t(2) << 20;
  /// Of less there are no parts worth a thread.
  static constexpr size_t least = 2 * part;

  /// Bytes of the first part that are before `to`.
  size_t lead() const { return reinterpret_cast<uintptr_t>(to) % part; }
  int64_t startOf(int64_t index) const {
    size_t start = size_t(index) * part;
    return int64_t(std::min(start > lead() ? start - lead() : 0, bytes));
  }
  void copy(int64_t first, int64_t last) const {
    if (first < last)
      std::memcpy(to + first, from + first, size_t(last - first));
  }

  char *to;
  const std::byte *from;
  size_t bytes;
};

} // namespace

HostDevice::HostDevice(DeviceId id)
    : deviceId(id), allocator(memory, toString(id), memoryLimit()) {}

MemoryInfo HostDevice::memoryInfo() const {
  CachingAllocator::Usage usage = allocator.usage();
  MemoryBudget budget = MemoryBudget::detect();
  MemoryInfo info;
  info.total = std::min(usage.limit, budget.total);
  info.inUse = usage.inUse;
  info.reserved = usage.inUse + usage.cached;
  info.peak = usage.peak;
  info.available =
      std::min(budget.available() + usage.cached, usage.limit - usage.inUse);
  return info;
}

Result<BufferRef> HostDevice::allocate(size_t bytes) {
  return allocator.allocate(*this, bytes);
}

void HostDevice::free(Buffer *buffer) { allocator.free(buffer); }

Status HostDevice::copyIn(Buffer &to, size_t offset,
                          std::span<const std::byte> from) {
  SINTER_TRY(checkCopy("copy in", *this, to, offset, from.size()));
  PartedCopy(static_cast<char *>(to.data()) + offset, from.data(), from.size())
      .run();
  to.bumpVersion();
  return {};
}

Status HostDevice::copyOut(std::span<std::byte> to, const Buffer &from,
                           size_t offset) {
  SINTER_TRY(checkCopy("copy out", *this, from, offset, to.size()));
  if (!to.empty())
    std::memcpy(to.data(), static_cast<const char *>(from.data()) + offset,
                to.size());
  return {};
}

Status HostDevice::copy(Buffer &to, const Buffer &from, size_t bytes) {
  SINTER_TRY(checkCopy("copy", *this, to, 0, bytes));
  SINTER_TRY(checkCopy("copy", *this, from, 0, bytes));
  SINTER_TRY(HostDevice::move(to.data(), from.data(), bytes));
  to.bumpVersion();
  return {};
}

Status HostDevice::move(void *to, const void *from, size_t bytes) {
  if (bytes)
    std::memmove(to, from, bytes);
  return {};
}

Result<std::unique_ptr<Event>> HostDevice::record() {
  return std::unique_ptr<Event>(std::make_unique<DoneEvent>());
}

Status HostDevice::synchronize() { return {}; }
