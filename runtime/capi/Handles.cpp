/// Slots with generations: a handle is a slot's number and its generation.
#include "runtime/capi/Handles.h"

#include "runtime/support/Fork.h"

#include <array>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <utility>
#include <vector>

using namespace sinter;
using namespace sinter::capi;

namespace {

constexpr unsigned indexBits = 18;
constexpr size_t chunkSlots = 64;
constexpr size_t maxChunks = (size_t(1) << indexBits) / chunkSlots;

struct Slot {
  uint64_t generation = 1;
  HandleKind kind = HandleKind::none;
  std::shared_ptr<void> object;
};

/// Of every so many slots. Few: a fork takes them all, and who watches locks
/// may be able to follow 64 (ThreadSanitizer).
struct alignas(64) SlotLock {
  ForkMutex mutex;
};
constexpr size_t slotLocks = 8;

/// Slots never move and never go away, so they are found without a lock.
class HandleTable {
public:
  uint64_t add(HandleKind kind, std::shared_ptr<void> object);
  Result<std::shared_ptr<void>> get(HandleKind kind, uint64_t handle,
                                    bool close);

private:
  Slot *find(size_t index) const {
    Slot *chunk =
        index / chunkSlots < maxChunks
            ? chunks[index / chunkSlots].load(std::memory_order_acquire)
            : nullptr;
    return chunk ? chunk + index % chunkSlots : nullptr;
  }
  ForkMutex &lockOf(uint32_t index) { return locks[index % slotLocks].mutex; }
  uint32_t takeIndex();

  std::array<SlotLock, slotLocks> locks;
  ForkMutex mutex; ///< of the list of free ones
  std::vector<uint32_t> free;
  size_t made = 0;
  std::array<std::atomic<Slot *>, maxChunks> chunks{};
};

HandleTable &table() {
  static auto *all = new HandleTable; // outlives static objects of callers
  return *all;
}

const char *nameOf(HandleKind kind) {
  static constexpr const char *names[] = {"handle", "model", "session",
                                          "event"};
  return names[size_t(kind)];
}

} // namespace

uint32_t HandleTable::takeIndex() {
  std::lock_guard lock(mutex);
  if (free.empty()) {
    size_t chunk = made / chunkSlots;
    if (chunk == maxChunks)
      throw std::bad_alloc();
    free.reserve(made + chunkSlots); // so that giving one back takes no memory
    chunks[chunk].store(new Slot[chunkSlots], std::memory_order_release);
    made += chunkSlots;
    for (size_t i = 0; i < chunkSlots; ++i)
      free.push_back(uint32_t(made - 1 - i));
  }
  uint32_t index = free.back();
  free.pop_back();
  return index;
}

uint64_t HandleTable::add(HandleKind kind, std::shared_ptr<void> object) {
  uint32_t index = takeIndex();
  Slot &slot = *find(index);
  std::lock_guard lock(lockOf(index));
  slot.kind = kind;
  slot.object = std::move(object);
  return slot.generation << indexBits | index;
}

Result<std::shared_ptr<void>> HandleTable::get(HandleKind kind, uint64_t handle,
                                               bool close) {
  if (handle == 0)
    return invalid(fmt::format("the {} is null", nameOf(kind)));
  auto index = uint32_t(handle & ((uint64_t(1) << indexBits) - 1));
  Slot *slot = find(index);
  if (!slot)
    return invalid(fmt::format("this is no {}", nameOf(kind)));
  std::unique_lock lock(lockOf(index));
  if (slot->generation != handle >> indexBits)
    return invalid(fmt::format("this {} was closed, or is none", nameOf(kind)));
  if (slot->kind != kind)
    return invalid(fmt::format("a {} was expected, this is a {}", nameOf(kind),
                               nameOf(slot->kind)));
  if (!close)
    return slot->object;
  std::shared_ptr<void> object = std::move(slot->object);
  slot->kind = HandleKind::none;
  ++slot->generation;
  lock.unlock();
  std::lock_guard listLock(mutex);
  free.push_back(index);
  return object;
}

uint64_t capi::addHandle(HandleKind kind, std::shared_ptr<void> object) {
  return table().add(kind, std::move(object));
}

Result<std::shared_ptr<void>> capi::findHandle(HandleKind kind,
                                               uint64_t handle) {
  return table().get(kind, handle, false);
}

Result<std::shared_ptr<void>> capi::takeHandle(HandleKind kind,
                                               uint64_t handle) {
  return table().get(kind, handle, true);
}
