/// FileDescriptor: an open file of the system that closes itself.
#pragma once

#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include <unistd.h>

namespace sinter {

/// Owns a descriptor; a negative number means that opening failed, or that it
/// was moved from.
class FileDescriptor {
public:
  explicit FileDescriptor(int number) : number(number) {}
  FileDescriptor(FileDescriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
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

  /// Reads until `bytes` is full; false where it fails, or the file ends
  /// before that, for which errno is 0.
  bool readAll(std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
      ssize_t read = ::read(number, bytes.data(), bytes.size());
      if (read < 0 && errno == EINTR)
        continue;
      if (read == 0)
        errno = 0;
      if (read <= 0)
        return false;
      bytes = bytes.subspan(size_t(read));
    }
    return true;
  }

private:
  int number;
};

} // namespace sinter
