/// DiskCache: compiled programs, kernels, what drivers and assemblers made of
/// them, and chosen tiles in a private directory, shared by processes.
#pragma once

#include "runtime/files/FileBytes.h"
#include "runtime/support/Key.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sinter::runtime {

/// What an entry is. Entries hold these numbers.
enum class CacheKind : uint8_t {
  program = 1,     ///< a model file
  kernel = 2,      ///< of our compiler
  machineCode = 3, ///< of a kernel for one GPU
  pipelines = 4,   ///< of a driver's
  tiles = 5,       ///< chosen by time
};

/// What a cache holds.
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
/// Entries hold machine code, so the directory must belong to the user and be
/// closed to everybody else (0700). Entries appear whole, by rename. They carry
/// digests and the key they are of, so that one that has got another's name is
/// as broken as one that was altered; what is used is the copy in memory that
/// was checked. The least recently used go when the limit is passed. Several
/// processes, also of several containers, may share a directory, and any of
/// them may empty it at any time; each looks at the whole directory after it
/// wrote a sixteenth of the limit, so together they may pass it by as much
/// each.
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

  /// The bytes of an entry as they were stored, which marks it used. Nothing
  /// when it is absent; a broken one is an error and removed.
  Result<std::optional<std::vector<std::byte>>> findBytes(CacheKind kind,
                                                          const Key &key) const;
  /// The same without a copy.
  Result<std::optional<FileBytes>> findFile(CacheKind kind,
                                            const Key &key) const;

  /// Writes an entry, then removes old ones until the limit holds. `file` is a
  /// model file.
  Status storeProgram(const Key &key, std::span<const std::byte> file) const {
    return storeBytes(CacheKind::program, key, file);
  }
  /// The same for any bytes.
  Status storeBytes(CacheKind kind, const Key &key,
                    std::span<const std::byte> bytes) const;
  void removeBytes(CacheKind kind, const Key &key) const;

  CacheInfo info() const;
  /// Removes all entries, and says how many there were. What others are writing
  /// is left to them.
  Result<uint64_t> clear() const;
  /// Whether bytes that are as they were stored are of use.
  using Usable =
      std::function<bool(CacheKind kind, std::span<const std::byte>)>;
  /// The names of broken entries, and of those that are not `usable`.
  Result<std::vector<std::string>> verify(const Usable &usable = {}) const;
  std::string programPath(const Key &key) const {
    return bytesPath(CacheKind::program, key);
  }
  std::string bytesPath(CacheKind kind, const Key &key) const;

private:
  struct Entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t usedNanoseconds = 0;
  };
  Status check() const;
  std::vector<Entry> entries() const;
  void removeStale() const;
  void evict() const;

  std::string folder;
  uint64_t limit;
};

} // namespace sinter::runtime
