/// Where blocks come from, and limits of the caching allocator.
#include "runtime/memory/CachingAllocator.h"

#include "runtime/support/Flags.h"
#include "runtime/support/Sites.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include <sys/mman.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr size_t granule = 256;
constexpr size_t hugePage = size_t(2) << 20;
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

/// A Buffer that knows its piece of a segment.
struct CachingAllocator::Block final : Buffer {
  Block(Device &device, Piece *piece, size_t bytes)
      : Buffer(device, piece->begin, bytes), piece(piece) {}
  Piece *piece;
  Block *older = nullptr;
  Block *newer = nullptr;
};

CachingAllocator::CachingAllocator(MemorySource &source, std::string name,
                                   size_t limit)
    : source(source), name(std::move(name)), limit(limit) {}

CachingAllocator::~CachingAllocator() { trim(); }

Result<BufferRef> CachingAllocator::allocate(Device &device, size_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > std::min(largestRequest, mostBytes()))
    return outOfMemory(bytes);
  std::unique_ptr<void, void (*)(void *)> memory(
      ::operator new(sizeof(Block)),
      [](void *pointer) { ::operator delete(pointer, sizeof(Block)); });
  // Made before it is known whether it is needed: nothing can be undone quietly
  // later.
  auto spare = std::make_unique<Piece>();
  Piece *piece = takePiece(pieceBytes(bytes), spare);
  if (!piece)
    return outOfMemory(bytes);
  inUse += piece->bytes;
  peak = std::max(peak, inUse);
  highest = std::max(highest, inUse);
  auto *block = new (memory.release()) Block(device, piece, bytes);
  block->older = newest;
  if (newest)
    newest->newer = block;
  newest = block;
  return BufferRef::adopt(block);
}

size_t CachingAllocator::mostBytes() const {
  size_t most = source.mostBytes();
  int64_t told = flags().allocationLimit;
  return told > 0 ? std::min(most, size_t(told) / granule * granule) : most;
}

// What rounding would take beyond the source's most takes that.
size_t CachingAllocator::pieceBytes(size_t bytes) const {
  size_t rounded = blockBytes(bytes), most = mostBytes();
  return bytes <= most ? std::min(rounded, most) : rounded;
}

Piece *CachingAllocator::takeFree(size_t bytes, size_t most,
                                  std::unique_ptr<Piece> &spare) {
  Piece *piece = segments.find(bytes, most);
  if (piece)
    segments.take(piece, bytes, std::move(spare));
  return piece;
}

Piece *CachingAllocator::addSegment(size_t bytes,
                                    std::unique_ptr<Piece> &spare) {
  auto *begin = static_cast<char *>(source.acquire(bytes));
  return begin ? segments.add(begin, bytes, std::move(spare)) : nullptr;
}

// Segments that are free and too small for what is wanted give way to one that
// is not, if they have as much: sizes that grow from run to run would leave one
// of each size behind.
void CachingAllocator::replaceSegments(size_t bytes) {
  constexpr size_t least = size_t(1) << 20; // less is not worth a wait
  if (bytes < least || segments.wholeBytes() < bytes)
    return;
  size_t left = segments.wholeBytes() - bytes;
  while (segments.oldestWhole() && segments.wholeBytes() > left)
    releaseOldest();
}

// What is small and stays should not keep a large segment from being given
// back, so it is not cut from one: where to give back is cheap, from none that
// it leaves most of.
Piece *CachingAllocator::takePiece(size_t bytes,
                                   std::unique_ptr<Piece> &spare) {
  size_t part = source.waitsOnRelease() ? 8 : 2;
  size_t most = bytes > SIZE_MAX / part ? SIZE_MAX : part * bytes;
  if (Piece *piece = takeFree(bytes, most, spare))
    return piece;
  replaceSegments(bytes);
  auto isTooMuch = [&] {
    return limit && inUse + segments.freeBytes() + bytes > limit;
  };
  if (isTooMuch())
    trimLocked();
  Piece *piece = isTooMuch() ? nullptr : addSegment(bytes, spare);
  if (piece)
    return piece;
  trimLocked();
  if (!isTooMuch())
    piece = addSegment(bytes, spare);
  return piece ? piece : takeFree(bytes, SIZE_MAX, spare);
}

void CachingAllocator::free(Buffer *buffer) {
  auto *block = static_cast<Block *>(buffer);
  Piece *piece = block->piece;
  std::lock_guard lock(mutex);
  (block->newer ? block->newer->older : newest) = block->older;
  if (block->older)
    block->older->newer = block->newer;
  delete block;
  inUse -= piece->bytes;
  segments.give(piece);
  // Never keep more than was ever in use at once: what was freed just now will
  // be asked for again sooner than what nobody has asked for since.
  while (segments.freeBytes() > highest && segments.oldestWhole() &&
         !source.waitsOnRelease())
    releaseOldest();
}

void CachingAllocator::releaseOldest() {
  source.release(segments.remove(segments.oldestWhole()));
}

void CachingAllocator::trim() {
  std::lock_guard lock(mutex);
  trimLocked();
}

void CachingAllocator::trimLocked() {
  while (segments.oldestWhole())
    releaseOldest();
}

void CachingAllocator::resetPeak() {
  std::lock_guard lock(mutex);
  peak = inUse;
}

CachingAllocator::Usage CachingAllocator::usage() const {
  std::lock_guard lock(mutex);
  return {inUse, peak, segments.freeBytes(), limit};
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
  if (size_t most = mostBytes(); bytes > most)
    return makeError(ErrorKind::out_of_memory,
                     fmt::format("{}: cannot allocate {} bytes, one allocation "
                                 "takes at most {}",
                                 name, bytes, most));
  std::string bound = limit ? fmt::format("the limit is {} bytes", limit)
                            : std::string("the machine has no more");
  return makeError(ErrorKind::out_of_memory,
                   fmt::format("{}: cannot allocate {} bytes, {} are in use "
                               "and {}{}",
                               name, bytes, inUse, bound, describeLargest()));
}
