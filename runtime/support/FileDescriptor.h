/// FileDescriptor: an open file of the system that closes itself.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>

#include <unistd.h>

namespace sinter {

/// Owns a descriptor; a negative number means that opening failed.
class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number(number) {}
  FileDescriptor(const FileDescriptor &) = delete;
  FileDescriptor &operator=(const FileDescriptor &) = delete;
  ~FileDescriptor() {
    if (number >= 0)
      ::close(number);
  }

  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }

  /// Writes everything; on false errno says why it failed.
  bool writeAll(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      ssize_t written = ::write(number, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return false;
      bytes = bytes.subspan(size_t(written));
    }
    return true;
  }

private:
  int number;
};

} // namespace sinter
