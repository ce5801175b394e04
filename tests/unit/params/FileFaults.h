/// FileFaults: lets the system's calls on files fail, or end the process.
#pragma once

#include <cstdint>

namespace sinter::test {

/// What this thread's calls of openat for new files, write, fsync, linkat and
/// renameat do, for the program and the libraries it uses.
struct FileFaults {
  uint64_t room = UINT64_MAX; ///< bytes until the disk is full
  int failing = 0;            ///< the number of the call that fails, from 1
  int killing = 0;            ///< before which SIGKILL comes
  bool hasProc = true;        ///< whether nameless files can get a name
  bool hasNameless = true;    ///< whether there are nameless files
  int calls = 0;              ///< so far
};
FileFaults &fileFaults();

} // namespace sinter::test
