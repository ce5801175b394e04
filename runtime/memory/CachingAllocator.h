/// CachingAllocator: hands out Buffers and keeps freed memory for reuse.
#pragma once

#include "runtime/memory/Buffer.h"
#include "runtime/support/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace sinter::runtime {

/// Where an allocator's blocks come from: host memory, a driver.
class MemorySource {
public:
  virtual ~MemorySource() = default;
  /// Memory aligned to 256 bytes, or null. `bytes` is a multiple of 256.
  virtual void *acquire(size_t bytes) = 0;
  virtual void release(void *block) = 0;
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

/// Keeps freed blocks by size class (eight per doubling), so that a program
/// that runs again asks the source for nothing. Thread-safe.
class CachingAllocator {
public:
  struct Usage {
    size_t inUse = 0;  ///< bytes of live Buffers
    size_t peak = 0;   ///< highest inUse so far
    size_t cached = 0; ///< bytes of freed blocks that are kept
    size_t limit = 0;  ///< that inUse and cached together may reach
  };

  /// `limit` is in bytes; 0 means none. `name` stands in errors.
  CachingAllocator(MemorySource &source, std::string name, size_t limit);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator &) = delete;
  CachingAllocator &operator=(const CachingAllocator &) = delete;

  /// A Buffer of `device` with one reference. Before it fails, cached blocks
  /// are given back; a failure changes nothing else, and its message lists the
  /// largest live Buffers with their origins.
  Result<BufferRef> allocate(Device &device, size_t bytes);
  /// Ends a Buffer that `allocate` made; its block is kept.
  void free(Buffer *buffer);
  /// Gives every cached block back to the source.
  void trim();
  Usage usage() const;

  /// The bytes a block for `bytes` really takes.
  static size_t blockBytes(size_t bytes);

private:
  struct Block;
  /// Freed blocks of one size.
  struct SizeCache {
    std::vector<void *> blocks;
    size_t blockBytes = 0;
    uint64_t lastUse = 0; ///< of a block of the size, taken or freed
  };
  void *takeBlock(size_t bytes, unsigned sizeClass);
  void releaseOldest();
  void trimLocked();
  ErrorInfo outOfMemory(size_t bytes) const;
  std::string describeLargest() const;

  static constexpr unsigned numClasses = 8 * 64;
  MemorySource &source;
  const std::string name;
  const size_t limit;
  mutable std::mutex mutex;
  size_t inUse = 0;
  size_t peak = 0;
  size_t cached = 0;
  uint64_t uses = 0;
  std::array<SizeCache, numClasses> cache;
  Block *newest = nullptr; ///< a list of the live ones
};

} // namespace sinter::runtime
