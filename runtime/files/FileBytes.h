/// FileBytes: the bytes of a file, wherever they are.
#pragma once

#include "runtime/files/FileDescriptor.h"
#include "runtime/files/MappedFile.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

namespace sinter::runtime {

/// The bytes of a file: mapped, or copied to memory aligned like a mapping.
class FileBytes {
public:
  static Result<FileBytes> copyOf(std::span<const std::byte> bytes);
  /// Reads this many bytes: what others do to the file later is not seen. An
  /// error says why they cannot be had, without the file's name.
  static Result<FileBytes> read(const FileDescriptor &file, size_t size);
  explicit FileBytes(MappedFile mapped) : mapped(std::move(mapped)) {}
  /// Those that somebody else keeps, where they are.
  static FileBytes view(std::span<const std::byte> bytes);
  std::span<const std::byte> bytes() const {
    return mapped ? mapped->bytes() : std::span(start, size);
  }

private:
  struct Free {
    void operator()(const std::byte *block) const;
  };
  FileBytes() = default;
  static Result<std::byte *> allocate(FileBytes &file, size_t size);
  std::optional<MappedFile> mapped;
  std::unique_ptr<const std::byte, Free> copy; ///< empty where it is a view
  const std::byte *start = nullptr;
  size_t size = 0;
};

} // namespace sinter::runtime
