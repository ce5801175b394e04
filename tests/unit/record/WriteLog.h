/// WriteLog: the system's calls that change files below one folder, in order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace record_test {

/// What a file system was asked for.
struct FileChange {
  enum class Kind : uint8_t {
    create,     ///< file `file`, under `name` unless that is empty
    write,      ///< `bytes` at `offset`
    sync,       ///< of file `file`
    syncFolder, ///< of the folder that names are in
    link,       ///< `name` is file `file`
    rename,     ///< `name` becomes `target`
    unlink,     ///< `name` goes
  };
  Kind kind;
  int file = 0;
  std::string name, target;
  uint64_t offset = 0;
  std::string bytes;
};

/// While it lives, this thread's calls of openat, write, fsync, linkat,
/// renameat and unlinkat are noted, for the program and the libraries it uses.
class WriteLog {
public:
  WriteLog();
  WriteLog(const WriteLog &) = delete;
  ~WriteLog();
  std::vector<FileChange> changes;
};

} // namespace record_test
