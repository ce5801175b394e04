/// Zip archives: stored and deflated entries.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace sinter::runtime {

/// One file of an archive.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint64_t offset = 0; ///< of its data in the archive
  uint64_t packed = 0; ///< bytes in the archive
  uint64_t size = 0;   ///< bytes of the file
  uint32_t crc = 0;
};

/// An archive in memory whose directory was checked in full: every entry lies
/// within it, none lies in another, no name comes twice. Archives of several
/// disks, encrypted entries and other methods are errors of kind
/// `unsupported`, the rest `io`.
class ZipArchive {
public:
  /// `file` must outlive the archive.
  static Result<ZipArchive> parse(std::span<const std::byte> file);

  std::span<const ZipEntry> entries() const { return list; }
  /// The bytes of an entry, checked against its size and checksum. More than
  /// `limit` bytes, or more than deflate can make of what is there, are an
  /// error before memory is taken.
  Result<std::vector<std::byte>>
  read(const ZipEntry &entry,
       uint64_t limit = std::numeric_limits<int64_t>::max()) const;

  /// The bytes as they stand in the archive: those of a stored entry are its
  /// file, of which nothing but the place was checked.
  std::span<const std::byte> packed(const ZipEntry &entry) const;
  /// The first `count` bytes of an entry, or all where it has fewer; the
  /// checksum is not compared.
  Result<std::vector<std::byte>> readFront(const ZipEntry &entry,
                                           uint64_t count) const;
  /// Compares a stored entry with its checksum.
  Status check(const ZipEntry &entry) const;

private:
  std::span<const std::byte> file;
  std::vector<ZipEntry> list;
};

/// The bytes deflated, without a header (RFC 1951).
Result<std::vector<std::byte>> deflateBytes(std::span<const std::byte> bytes);

enum class ZipMethod : uint8_t { stored, deflated };

/// Makes an archive. Deterministic: the time of every entry is 1980-01-01.
class ZipWriter {
public:
  /// Adds a file made of `parts`; each has a name of its own. Stored ones are
  /// not copied: they must stay until `write`.
  Status add(const std::string &name,
             std::span<const std::span<const std::byte>> parts,
             ZipMethod method);
  /// The file at `path` is replaced at once or stays as it was. 4 GiB and
  /// more, or more than 65,534 entries, are an `unsupported` error.
  Status write(const std::string &path) const;

private:
  struct Added {
    ZipEntry entry;
    uint64_t header = 0; ///< offset of the local header
  };
  void append(std::span<const std::byte> bytes);

  std::vector<Added> added;
  std::unordered_set<std::string> names;
  std::deque<std::vector<std::byte>> owned;
  std::vector<std::span<const std::byte>> pieces;
  uint64_t length = 0;
};

} // namespace sinter::runtime
