/// MappedFile: the bytes of a file, mapped read-only.
#include "runtime/files/MappedFile.h"

#include "runtime/files/FileDescriptor.h"
#include "runtime/files/SystemError.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sinter::runtime {

Result<MappedFile> MappedFile::open(const std::string &path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return systemError(path, "cannot open");
  return map(file.get(), path);
}

Result<MappedFile> MappedFile::map(int descriptor, const std::string &name) {
  struct stat info = {};
  if (::fstat(descriptor, &info) != 0)
    return systemError(name, "cannot read");
  if (!S_ISREG(info.st_mode))
    return makeError(ErrorKind::io, name + ": not a regular file");
  size_t size = static_cast<size_t>(info.st_size);
  if (size == 0)
    return MappedFile(nullptr, 0);
  void *address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED)
    return systemError(name, "cannot map");
  return MappedFile(static_cast<const std::byte *>(address), size);
}

Result<MappedFile> MappedFile::copyOf(std::span<const std::byte> bytes) {
  if (bytes.empty())
    return MappedFile(nullptr, 0);
  void *address = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    return systemError("a file in memory", "cannot map");
  std::memcpy(address, bytes.data(), bytes.size());
  return MappedFile(static_cast<const std::byte *>(address), bytes.size(),
                    true);
}

bool MappedFile::has(std::span<const std::byte> part) const {
  std::less_equal<> notAbove;
  return notAbove(address, part.data()) &&
         notAbove(part.data() + part.size(), address + size);
}

void MappedFile::leave(std::span<const std::byte> part) const {
  if (isCopy || !has(part))
    return;
  // Whole pages only: others share the ones at the ends.
  static const auto page = size_t(sysconf(_SC_PAGESIZE));
  size_t first = (size_t(part.data() - address) + page - 1) / page * page;
  size_t last = size_t(part.data() - address + part.size()) / page * page;
  if (first < last)
    madvise(const_cast<std::byte *>(address) + first, last - first,
            MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (address)
    ::munmap(const_cast<std::byte *>(address), size);
}

} // namespace sinter::runtime
