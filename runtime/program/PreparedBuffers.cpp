/// Keeps what `prepare` phases made.
#include "runtime/program/PreparedBuffers.h"

#include <atomic>

using namespace sinter;
using namespace sinter::runtime;

/// Of all programs together.
static std::atomic<uint64_t> keptBytes{0};

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
  auto [found, isNew] = entries.try_emplace(slot, Entry{source, {}});
  Entry &entry = found->second;
  bool isKnown = source.buffer == 0 || (!isNew && entry.source == source);
  if (!(entry.source == source)) {
    drop(entry);
    entry = {source, {}};
  }
  if (entry.memory)
    return {entry.memory, true};
  if (!isKnown || entry.isRefused)
    return {};
  uint64_t kept = keptBytes.load(std::memory_order_relaxed);
  if (kept + bytes <= device.memoryInfo().total / 4)
    if (Result<BufferRef> memory = device.allocate(bytes))
      return {std::move(*memory), false};
  entry.isRefused = true;
  return {};
}

void PreparedBuffers::keep(Slot slot, const PreparedSource &source,
                           BufferRef memory) {
  std::lock_guard lock(mutex);
  auto found = entries.find(slot);
  if (found == entries.end() || found->second.memory ||
      !(found->second.source == source))
    return; // another thread was first, or the input has changed
  keptBytes.fetch_add(memory->bytes(), std::memory_order_relaxed);
  found->second.memory = std::move(memory);
}

void PreparedBuffers::clear() {
  std::lock_guard lock(mutex);
  for (auto &[slot, entry] : entries)
    drop(entry);
  entries.clear();
}
