/// Keeps what `prepare` phases made.
#include "runtime/program/PreparedBuffers.h"

#include <atomic>

using namespace sinter;
using namespace sinter::runtime;

/// Of all programs together.
static std::atomic<uint64_t> keptBytes{0};

PreparedBuffers::Entry *PreparedBuffers::entryOf(Slot slot) {
  for (Entry &entry : entries)
    if (entry.slot == slot)
      return &entry;
  return nullptr;
}

void PreparedBuffers::drop(Entry &entry) {
  if (!entry.memory)
    return;
  keptBytes.fetch_sub(entry.memory->bytes(), std::memory_order_relaxed);
  entry.memory = {};
}

PreparedBuffers::Kept PreparedBuffers::find(Slot slot,
                                            const PreparedSource &source,
                                            uint64_t bytes, Device &device) {
  std::lock_guard lock(mutex);
  Entry *entry = entryOf(slot);
  bool isKnown = source.buffer == 0 || (entry && entry->source == source);
  if (!entry) {
    entry = &entries.emplace_back(Entry{slot, source, {}});
  } else if (!(entry->source == source)) {
    drop(*entry);
    *entry = {slot, source, {}};
  }
  if (entry->memory)
    return {entry->memory, true};
  if (!isKnown || entry->isRefused)
    return {};
  uint64_t kept = keptBytes.load(std::memory_order_relaxed);
  if (kept + bytes <= device.memoryInfo().total / 4)
    if (Result<BufferRef> memory = device.allocate(bytes))
      return {std::move(*memory), false};
  entry->isRefused = true;
  return {};
}

void PreparedBuffers::keep(Slot slot, const PreparedSource &source,
                           BufferRef memory) {
  std::lock_guard lock(mutex);
  Entry *entry = entryOf(slot);
  if (!entry || entry->memory || !(entry->source == source))
    return; // another thread was first, or the input has changed
  keptBytes.fetch_add(memory->bytes(), std::memory_order_relaxed);
  entry->memory = std::move(memory);
}

void PreparedBuffers::clear() {
  std::lock_guard lock(mutex);
  for (Entry &entry : entries)
    drop(entry);
  entries.clear();
}
