/// Size classes, free lists and limits of the caching allocator.
#include "runtime/memory/CachingAllocator.h"

#include "runtime/device/Device.h"
#include "runtime/support/Sites.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <new>
#include <span>

#include <sys/mman.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr size_t granule = 256;
constexpr size_t hugePage = size_t(2) << 20;

struct SizeClass {
  unsigned index;
  size_t bytes;
};

/// Rounds up to one of eight sizes per doubling, all multiples of 256.
SizeClass classify(size_t bytes) {
  size_t granules = std::max<size_t>(1, (bytes + granule - 1) / granule);
  if (granules <= 8)
    return {unsigned(granules - 1), granules * granule};
  // granules is in (2^k, 2^(k+1)]: eight steps of 2^(k-3).
  unsigned log = std::bit_width(granules - 1) - 1;
  size_t step = size_t(1) << (log - 3);
  size_t rounded = (granules + step - 1) / step;
  unsigned index = 8 + (log - 3) * 8 + unsigned(rounded - 9);
  return {index, rounded * step * granule};
}

constexpr size_t largestRequest = std::numeric_limits<size_t>::max() / 4;

} // namespace

void *HostMemory::acquire(size_t bytes) {
  bool huge = bytes >= 2 * hugePage;
  size_t alignment = huge ? hugePage : granule;
  size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void *block = std::aligned_alloc(alignment, rounded);
  if (block && huge)
    madvise(block, rounded, MADV_HUGEPAGE);
  return block;
}

void HostMemory::release(void *block) { std::free(block); }

/// A Buffer that knows its block.
struct CachingAllocator::Block final : Buffer {
  Block(Device &device, void *data, size_t bytes, SizeClass place)
      : Buffer(device, data, bytes), place(place) {}
  SizeClass place;
  Block *older = nullptr;
  Block *newer = nullptr;
};

CachingAllocator::CachingAllocator(MemorySource &source, std::string name,
                                   size_t limit)
    : source(source), name(std::move(name)), limit(limit) {}

CachingAllocator::~CachingAllocator() { trim(); }

size_t CachingAllocator::blockBytes(size_t bytes) {
  return classify(bytes).bytes;
}

Result<BufferRef> CachingAllocator::allocate(Device &device, size_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > largestRequest)
    return outOfMemory(bytes);
  SizeClass place = classify(bytes);
  SINTER_TRY(device.checkProcess());
  // First, as nothing can be undone quietly once a block is taken.
  std::unique_ptr<void, void (*)(void *)> memory(
      ::operator new(sizeof(Block)),
      [](void *pointer) { ::operator delete(pointer, sizeof(Block)); });
  void *data = takeBlock(place.bytes, place.index);
  if (!data)
    return outOfMemory(bytes);
  inUse += place.bytes;
  peak = std::max(peak, inUse);
  auto *block = new (memory.release()) Block(device, data, bytes, place);
  block->older = newest;
  if (newest)
    newest->newer = block;
  newest = block;
  return BufferRef::adopt(block);
}

void *CachingAllocator::takeBlock(size_t bytes, unsigned sizeClass) {
  SizeCache &own = cache[sizeClass];
  own.lastUse = ++uses;
  if (!own.blocks.empty()) {
    void *block = own.blocks.back();
    own.blocks.pop_back();
    cached -= bytes;
    return block;
  }
  if (limit && inUse + cached + bytes > limit) {
    trimLocked();
    if (inUse + bytes > limit)
      return nullptr;
  }
  void *block = source.acquire(bytes);
  if (!block) {
    trimLocked();
    block = source.acquire(bytes);
  }
  return block;
}

void CachingAllocator::free(Buffer *buffer) {
  auto *block = static_cast<Block *>(buffer);
  SizeClass place = block->place;
  void *data = block->data();
  std::lock_guard lock(mutex);
  (block->newer ? block->newer->older : newest) = block->older;
  if (block->older)
    block->older->newer = block->newer;
  delete block;
  inUse -= place.bytes;
  SizeCache &own = cache[place.index];
  own.blockBytes = place.bytes;
  own.lastUse = ++uses;
  try {
    own.blocks.push_back(data);
    cached += place.bytes;
  } catch (const std::bad_alloc &) { // no room to remember it
    source.release(data);
  }
  // Never keep more than was ever in use at once: what was freed just now will
  // be asked for again sooner than what nobody has asked for since.
  while (cached > peak && !source.waitsOnRelease())
    releaseOldest();
}

void CachingAllocator::releaseOldest() {
  SizeCache *oldest = nullptr;
  for (SizeCache &each : cache)
    if (!each.blocks.empty() && (!oldest || each.lastUse < oldest->lastUse))
      oldest = &each;
  source.release(oldest->blocks.back());
  oldest->blocks.pop_back();
  cached -= oldest->blockBytes;
}

void CachingAllocator::trim() {
  std::lock_guard lock(mutex);
  trimLocked();
}

void CachingAllocator::trimLocked() {
  for (SizeCache &each : cache) {
    for (void *block : each.blocks)
      source.release(block);
    each.blocks.clear();
  }
  cached = 0;
}

CachingAllocator::Usage CachingAllocator::usage() const {
  std::lock_guard lock(mutex);
  return {inUse, peak, cached, limit};
}

std::string CachingAllocator::describeLargest() const {
  constexpr size_t most = 5;
  std::vector<const Block *> live;
  for (const Block *block = newest; block; block = block->older)
    live.push_back(block);
  auto larger = [](const Block *a, const Block *b) {
    return a->bytes() > b->bytes();
  };
  std::stable_sort(live.begin(), live.end(), larger);
  std::string text;
  for (const Block *block :
       std::span(live).first(std::min(most, live.size()))) {
    text += fmt::format("{}{} bytes", text.empty() ? "; the largest: " : ", ",
                        block->bytes());
    std::optional<TensorOrigin> origin = block->origin();
    if (!origin)
      continue;
    text += fmt::format(" of {}", sinter::name(origin->dtype));
    if (origin->site)
      text += " made at " + siteString(origin->site);
  }
  return text;
}

ErrorInfo CachingAllocator::outOfMemory(size_t bytes) const {
  std::string bound = limit ? fmt::format("the limit is {} bytes", limit)
                            : std::string("the machine has no more");
  return makeError(ErrorKind::out_of_memory,
                   fmt::format("{}: cannot allocate {} bytes, {} are in use "
                               "and {}{}",
                               name, bytes, inUse, bound, describeLargest()));
}
