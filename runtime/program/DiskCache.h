/// DiskCache: compiled programs in a private directory, shared by processes.
#pragma once

#include "runtime/program/Program.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/support/Result.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinter::runtime {

/// Entries hold machine code, so the directory must belong to the user and be
/// closed to everybody else (0700). Entries appear whole, by rename; the least
/// recently used go when the limit is passed. Several processes may share one.
class DiskCache {
public:
  DiskCache(std::string directory, uint64_t limitBytes)
      : folder(std::move(directory)), limit(limitBytes) {}

  /// The cache that the environment names.
  static DiskCache fromEnvironment();

  /// Makes the directory when it is missing. An error says why the cache
  /// cannot be used.
  Status prepare() const;
  /// Loads an entry and marks it used. Null when it is absent; a broken one is
  /// an error and removed.
  Result<std::shared_ptr<const Program>> find(const Key &key,
                                              Device &device) const;
  /// Writes an entry, then removes old ones until the limit holds.
  Status store(const Key &key, std::span<const std::byte> file) const;

  CacheInfo info() const;
  Result<uint64_t> clear() const;
  Result<std::vector<std::string>> verify() const;
  std::string path(const Key &key) const;

private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t usedNanoseconds = 0;
  };
  Status check() const;
  std::vector<Entry> entries() const;
  void evict() const;

  std::string folder;
  uint64_t limit;
};

} // namespace sinter::runtime
