/// Writing whole files: the one way in which anything is stored.
#pragma once

#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// What a file is to hold, one part after another.
using FileParts = std::span<const std::span<const std::byte>>;

/// The same, where parts are made when they are written: one is in memory at a
/// time.
struct FileContents {
  uint64_t size = 0; ///< of all parts
  size_t count = 0;
  /// Part `index`, which stays until the next one is asked for. They are asked
  /// for in order, and perhaps a second time from the first one on. What it
  /// fails with is what writing fails with.
  std::function<Result<std::span<const std::byte>>(size_t index)> part;
};

/// Writes the file `path`. Whenever this process or the machine ends, and on
/// every error, its name has the old file or the whole new one. The new one is
/// written beside it, where it has no name until it is whole, and is on the
/// disk before it takes the old one's place; so the folder must be writable.
///
/// Otherwise it is as if the file were opened and overwritten:
/// - Symbolic links are followed, and stay; one to nothing makes its target.
/// - Permissions stay, and the owner where this user may give files away. A
///   file that may not be written is an error. Other hard links keep what they
///   have.
/// - Into a pipe or a character device (/dev/stdout, /dev/null) it is written,
///   and nothing is replaced. A FIFO that nobody reads is an error.
/// - A directory, a socket and a block device are errors.
///
/// An error is of kind `io`. Where there is no room it says how many bytes are
/// needed and how many are free.
Status replaceFile(const std::string &path, FileParts parts);
Status replaceFile(const std::string &path, const FileContents &contents);

/// Writes a file of a private folder whose readers check what they read: the
/// same, but it is for this user alone, goes over whatever has the name, also a
/// link, and may be gone or broken after the machine, not the process, ends.
Status replaceCached(const std::string &path, FileParts parts);

/// Whether a file was left behind by a process that ended between giving the
/// new file a first name and the old one's. In file systems without nameless
/// files somebody may still be writing it. Names are random: no two processes,
/// containers or machines ever have the same.
bool isTemporaryName(std::string_view name);

} // namespace sinter::runtime
