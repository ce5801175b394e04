/// CachingAllocator: hands out Buffers and keeps freed memory for reuse.
#pragma once

#include "runtime/memory/Segments.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Buffer.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>

namespace sinter::runtime {

/// Where an allocator's blocks come from: host memory, a driver.
class MemorySource {
public:
  virtual ~MemorySource() = default;
  /// Memory aligned to 256 bytes, or null. `bytes` is a multiple of 256.
  virtual void *acquire(size_t bytes) = 0;
  virtual void release(void *block) = 0;
  /// The most that it gives at once, a multiple of 256.
  virtual size_t mostBytes() const { return SIZE_MAX / 256 * 256; }
  /// Whether to give memory back waits for all work of a device: then freed
  /// blocks are kept until there is no memory for others.
  virtual bool waitsOnRelease() const { return false; }
};

/// Ordinary memory of the process.
class HostMemory final : public MemorySource {
public:
  void *acquire(size_t bytes) override;
  void release(void *block) override;
};

/// Keeps freed memory, so that a program that runs again asks the source for
/// nothing, and one with other sizes for little: what is free is cut, and
/// joined again when its parts are free. Thread-safe.
class CachingAllocator {
public:
  struct Usage {
    size_t inUse = 0;  ///< bytes of live Buffers
    size_t peak = 0;   ///< highest inUse so far, or since resetPeak
    size_t cached = 0; ///< bytes that are kept for others
    size_t limit = 0;  ///< that inUse and cached together may reach
  };

  /// `limit` is in bytes; 0 means none. `name` stands in errors.
  CachingAllocator(MemorySource &source, std::string name, size_t limit);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator &) = delete;
  CachingAllocator &operator=(const CachingAllocator &) = delete;

  /// A Buffer of `device` with one reference. Before it fails, whatever is not
  /// in use is given back; a failure changes nothing else, and its message
  /// lists the largest live Buffers with their origins.
  Result<BufferRef> allocate(Device &device, size_t bytes);
  /// Ends a Buffer that `allocate` made; its memory is kept.
  void free(Buffer *buffer);
  /// The most bytes that one Buffer may have.
  size_t mostBytes() const;
  /// Gives back to the source what it can take: whole segments.
  void trim();
  Usage usage() const;
  /// The peak is what is in use now.
  void resetPeak();

  /// The bytes a block for `bytes` really takes, where the source gives as
  /// many.
  static size_t blockBytes(size_t bytes) {
    return Segments::roundedBytes(bytes);
  }

private:
  struct Block;
  size_t pieceBytes(size_t bytes) const;
  Piece *takePiece(size_t bytes, std::unique_ptr<Piece> &spare);
  Piece *addSegment(size_t bytes, std::unique_ptr<Piece> &spare);
  Piece *takeFree(size_t bytes, size_t most, std::unique_ptr<Piece> &spare);
  void replaceSegments(size_t bytes);
  void releaseOldest();
  void trimLocked();
  ErrorInfo outOfMemory(size_t bytes) const;
  std::string describeLargest() const;

  MemorySource &source;
  const std::string name;
  const size_t limit;
  mutable ForkMutex mutex;
  Segments segments;
  size_t inUse = 0;
  size_t peak = 0;
  size_t highest = 0;      ///< inUse, ever
  Block *newest = nullptr; ///< a list of the live ones
};

} // namespace sinter::runtime
