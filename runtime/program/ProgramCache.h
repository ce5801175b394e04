/// The program caches in memory (LRU by bytes) and on disk.
#pragma once

#include "runtime/files/DiskCache.h"
#include "runtime/program/Program.h"
#include "runtime/support/Key.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sinter::runtime {

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
CacheInfo diskCacheInfo();
Result<uint64_t> clearDiskCache(); ///< returns entries removed
/// Checks every entry's digest; returns the names of the broken ones.
Result<std::vector<std::string>> verifyDiskCache();
/// Path of the entry of `key`, whether or not it exists; empty when unusable.
std::string diskCachePath(const Key &key);
void clearMemoryCache();

} // namespace sinter::runtime
