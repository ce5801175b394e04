/// Hands out pinned memory slot by slot.
#include "runtime/device/cuda/StagingRing.h"

#include <algorithm>
#include <cstring>

using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

Code StagingRing::open(Slot &slot) {
  if (slot.memory)
    return success;
  void *memory = nullptr;
  if (Code code = driver.createEvent(&slot.taken, disableTiming);
      code != success)
    return code;
  if (Code code = driver.allocateHost(&memory, slotBytes, 0); code != success)
    return code;
  slot.memory = static_cast<std::byte *>(memory);
  return success;
}

Code StagingRing::nextSlot() {
  Slot &full = slots[current];
  if (Code code = driver.recordEvent(full.taken, stream); code != success)
    return code;
  full.isQueued = true;
  current = (current + 1) % slots.size();
  used = 0;
  Slot &next = slots[current];
  if (!next.isQueued)
    return success;
  next.isQueued = false;
  return driver.waitEvent(next.taken);
}

Code StagingRing::reserve(size_t bytes, std::byte *&room) {
  constexpr size_t alignment = 256;
  if (used + bytes > slotBytes)
    if (Code code = nextSlot(); code != success)
      return code;
  if (Code code = open(slots[current]); code != success)
    return code;
  room = slots[current].memory + used;
  used += (bytes + alignment - 1) / alignment * alignment;
  return success;
}

Code StagingRing::copyIn(Address to, std::span<const std::byte> from) {
  if (from.size() <= fewBytes) {
    // On the stack nobody has pinned them, so the driver reads them now.
    std::byte few[fewBytes];
    std::memcpy(few, from.data(), from.size());
    return driver.copyIn(to, few, from.size(), stream);
  }
  std::lock_guard lock(mutex);
  while (!from.empty()) {
    std::span<const std::byte> part =
        from.first(std::min(from.size(), slotBytes));
    std::byte *room = nullptr;
    if (Code code = reserve(part.size(), room); code != success)
      return code;
    std::memcpy(room, part.data(), part.size());
    if (Code code = driver.copyIn(to, room, part.size(), stream);
        code != success)
      return code;
    to += part.size();
    from = from.subspan(part.size());
  }
  return success;
}
