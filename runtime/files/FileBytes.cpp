/// Bytes of files, read into memory.
#include "runtime/files/FileBytes.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

void FileBytes::Free::operator()(const std::byte *block) const {
  std::free(const_cast<std::byte *>(block));
}

Result<std::byte *> FileBytes::allocate(FileBytes &file, size_t size) {
  constexpr size_t alignment = 4096;
  size_t rounded = (size + alignment) / alignment * alignment;
  auto *block =
      static_cast<std::byte *>(std::aligned_alloc(alignment, rounded));
  if (!block)
    return makeError(ErrorKind::out_of_memory,
                     fmt::format("model file: no memory for {} bytes", size));
  file.copy.reset(block);
  file.start = block;
  file.size = size;
  return block;
}

Result<FileBytes> FileBytes::copyOf(std::span<const std::byte> bytes) {
  FileBytes file;
  SINTER_TRY_ASSIGN(std::byte * block, allocate(file, bytes.size()));
  if (!bytes.empty())
    std::memcpy(block, bytes.data(), bytes.size());
  return file;
}

FileBytes FileBytes::view(std::span<const std::byte> bytes) {
  FileBytes file;
  file.start = bytes.data();
  file.size = bytes.size();
  return file;
}

Result<FileBytes> FileBytes::read(const FileDescriptor &from, size_t size) {
  FileBytes file;
  SINTER_TRY_ASSIGN(std::byte * block, allocate(file, size));
  if (!from.readAll({block, size}))
    return makeError(ErrorKind::io, errno ? std::strerror(errno)
                                          : "it is shorter than it was");
  return file;
}
