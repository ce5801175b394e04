/// DiskCache: compiled programs, kernels, what drivers and assemblers made of
/// them, and chosen tiles in a private directory, shared by processes.
#pragma once

#include "runtime/program/Program.h"
#include "runtime/program/ProgramCache.h"
#include "runtime/support/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime {

/// The key of what a text names.
Key keyOfText(std::string_view text);

/// What an entry of bytes is.
enum class CacheKind {
  kernel,      ///< of our compiler
  machineCode, ///< of a kernel for one GPU
  pipelines,   ///< of a driver's
  tiles,       ///< chosen by time
};

/// Entries hold machine code, so the directory must belong to the user and be
/// closed to everybody else (0700). Entries appear whole, by rename, and carry
/// digests; the least recently used go when the limit is passed. Several
/// processes may share one; each looks at the whole directory after it wrote a
/// sixteenth of the limit, so together they may pass it by as much each.
class DiskCache {
public:
  DiskCache(std::string directory, uint64_t limitBytes)
      : folder(std::move(directory)), limit(limitBytes) {}

  /// The cache that the environment names.
  static DiskCache fromEnvironment();

  /// Makes the directory when it is missing. An error says why the cache
  /// cannot be used.
  Status prepare() const;
  /// The same with a counted warning in place of the error.
  bool prepareOrWarn() const;

  /// Loads a program and marks it used. Null when it is absent; a broken one is
  /// an error and removed.
  Result<std::shared_ptr<const Program>> findProgram(const Key &key,
                                                     Device &device) const;
  /// The bytes of an entry as they were stored, which marks it used. Nothing
  /// when it is absent; a broken one is an error and removed.
  Result<std::optional<std::vector<std::byte>>> findBytes(CacheKind kind,
                                                          const Key &key) const;

  /// Writes an entry, then removes old ones until the limit holds. `file` is a
  /// model file.
  Status storeProgram(const Key &key, std::span<const std::byte> file) const;
  /// The same for any bytes, to which a digest is added.
  Status storeBytes(CacheKind kind, const Key &key,
                    std::span<const std::byte> bytes) const;
  void removeBytes(CacheKind kind, const Key &key) const;

  CacheInfo info() const;
  Result<uint64_t> clear() const;
  Result<std::vector<std::string>> verify() const;
  std::string programPath(const Key &key) const;
  std::string bytesPath(CacheKind kind, const Key &key) const;

private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t usedNanoseconds = 0;
  };
  Status check() const;
  std::vector<Entry> entries() const;
  Status store(const std::string &path, std::span<const std::byte> head,
               std::span<const std::byte> bytes) const;
  void evict() const;

  std::string folder;
  uint64_t limit;
};

} // namespace sinter::runtime
