/// AppendFile: a file that grows, by large pieces.
#pragma once

#include "runtime/files/FileDescriptor.h"

#include <functional>
#include <string>
#include <string_view>

namespace sinter::train {

/// Throws Errors of kind `io`, with the file's name. Its folder is made.
class AppendFile {
public:
  AppendFile() = default;
  /// Opens for appending; `isFresh`: the file is empty then.
  explicit AppendFile(std::string path, bool isFresh = false);
  AppendFile(AppendFile &&) = default;
  AppendFile &operator=(AppendFile &&) = default;
  /// Writes what waits, where that works.
  ~AppendFile();

  explicit operator bool() const { return bool(file); }
  const std::string &path() const { return name; }

  void add(std::string_view bytes) {
    waiting += bytes;
    if (waiting.size() >= limit)
      flush();
  }
  /// Gives what waits to the system.
  void flush();

private:
  static constexpr size_t limit = size_t{64} << 10;

  std::string name;
  FileDescriptor file{-1};
  std::string waiting;
};

/// Cuts a text file before the first line that is not kept, and before a last
/// one without an end. No file: nothing to do. Gives the bytes that are left.
uint64_t cutLines(const std::string &path,
                  const std::function<bool(std::string_view line)> &isKept);

/// Calls `read` with each whole line, until it gives false. No file: no lines.
void eachLine(const std::string &path,
              const std::function<bool(std::string_view line)> &read);

/// Makes a file that long, which it was at least.
void cutFile(const std::string &path, uint64_t bytes);

} // namespace sinter::train
