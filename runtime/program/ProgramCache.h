/// The program caches in memory (LRU by bytes) and on disk.
#pragma once

#include "runtime/program/Program.h"
#include "sinter/runtime/Result.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace sinter::runtime {

/// 128-bit key of a graph with everything its program depends on.
struct Key {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Key &) const = default;
};
std::string toHex(const Key &key); ///< 32 digits

/// Where a program came from.
enum class CacheSource : uint8_t { memory, disk, compiled };

struct CachedProgram {
  std::shared_ptr<const Program> program;
  CacheSource source = CacheSource::memory;
};

/// Looks in memory, then on disk (SINTER_CACHE_DIR, default
/// $XDG_CACHE_HOME/sinter or ~/.cache/sinter), else calls `compile` and stores
/// its bytes in both. Concurrent calls with one key compile once. A disk cache
/// that cannot be used is a counted warning, never a failure.
Result<CachedProgram>
findOrCompile(const Key &key, Device &device,
              const std::function<Result<std::vector<std::byte>>()> &compile);

/// Memory and disk only: the program is null when neither has it.
CachedProgram findCached(const Key &key, Device &device);

/// Only the memory cache; null when absent.
std::shared_ptr<const Program> findInMemory(const Key &key, Device &device);

/// What `sinter cache` prints.
struct CacheInfo {
  std::string directory;
  bool usable = false;
  std::string reason;   ///< why not
  uint64_t entries = 0; ///< programs and all of the following
  uint64_t kernels = 0;
  uint64_t cubins = 0;    ///< machine code of kernels
  uint64_t pipelines = 0; ///< drivers' caches of pipelines
  uint64_t tiles = 0;     ///< choices of tiles
  uint64_t bytes = 0;
  uint64_t limitBytes = 0;
};
CacheInfo diskCacheInfo();
Result<uint64_t> clearDiskCache(); ///< returns entries removed
/// Checks every entry's digest; returns the names of the broken ones.
Result<std::vector<std::string>> verifyDiskCache();
/// Path of the entry of `key`, whether or not it exists; empty when unusable.
std::string diskCachePath(const Key &key);
void clearMemoryCache();

} // namespace sinter::runtime
