/// Replacing a file at once.
#include "runtime/params/ReplaceFile.h"

#include "runtime/params/SystemError.h"
#include "runtime/support/FileDescriptor.h"

#include <fmt/format.h>

#include <atomic>
#include <fcntl.h>
#include <unistd.h>

namespace sinter::runtime {

namespace {

Status writeAndSync(const std::string &path, const std::string &temporary,
                    std::span<const std::span<const std::byte>> parts) {
  int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  FileDescriptor file(::open(temporary.c_str(), flags, 0666));
  if (!file)
    return systemError(path, "cannot create");
  for (auto part : parts)
    if (!file.writeAll(part))
      return systemError(path, "cannot write");
  if (::fsync(file.get()) != 0)
    return systemError(path, "cannot sync");
  return {};
}

/// Makes the rename itself durable; a file system that cannot sync a folder is
/// no reason to fail.
void syncFolder(const std::string &path) {
  size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  FileDescriptor file(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file)
    ::fsync(file.get());
}

} // namespace

Status replaceFile(const std::string &path,
                   std::span<const std::span<const std::byte>> parts) {
  static std::atomic<unsigned> counter{0};
  std::string temporary =
      fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter++);
  if (Status written = writeAndSync(path, temporary, parts); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    ErrorInfo error = systemError(path, "cannot replace");
    ::unlink(temporary.c_str());
    return error;
  }
  syncFolder(path);
  return {};
}

} // namespace sinter::runtime
