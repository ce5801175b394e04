/// MappedFile: the bytes of a file, mapped read-only.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace sinter::runtime {

/// A regular file mapped into memory. The bytes stay valid as long as the
/// object lives, whether or not the name is replaced meanwhile. A file that
/// somebody truncates in place while it is mapped ends the process when the
/// missing pages are read; files written by `replaceFile` are never truncated.
class MappedFile {
public:
  /// An `io` error names the path and what the system said.
  static Result<MappedFile> open(const std::string &path);
  /// The same of a file that is open as `descriptor`, which the caller keeps;
  /// `name` stands in errors.
  static Result<MappedFile> map(int descriptor, const std::string &name);
  /// A copy of bytes that are in memory: a file in another file.
  static Result<MappedFile> copyOf(std::span<const std::byte> bytes);

  MappedFile(MappedFile &&other) noexcept
      : address(std::exchange(other.address, nullptr)),
        size(std::exchange(other.size, 0)), isCopy(other.isCopy) {}
  MappedFile &operator=(MappedFile &&other) noexcept {
    std::swap(address, other.address);
    std::swap(size, other.size);
    std::swap(isCopy, other.isCopy);
    return *this;
  }
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {address, size}; }
  /// Whether `part` lies in these bytes.
  bool has(std::span<const std::byte> part) const;
  /// Memory that holds `part` may be had by others until it is read again,
  /// which reads the file again. Nothing where `part` is not of this file.
  void leave(std::span<const std::byte> part) const;

private:
  MappedFile(const std::byte *address, size_t size, bool isCopy = false)
      : address(address), size(size), isCopy(isCopy) {}

  const std::byte *address = nullptr;
  size_t size = 0;
  bool isCopy = false; ///< no file has the bytes
};

} // namespace sinter::runtime
