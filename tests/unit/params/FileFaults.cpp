/// Stands before the C library's functions of these names.
#include "tests/unit/params/FileFaults.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

using sinter::test::fileFaults;

sinter::test::FileFaults &sinter::test::fileFaults() {
  static thread_local FileFaults mine;
  return mine;
}

/// Counts a call; false where it is to fail.
static bool mayGoOn() {
  sinter::test::FileFaults &faults = fileFaults();
  int number = ++faults.calls;
  if (number == faults.killing)
    raise(SIGKILL);
  if (number == faults.failing)
    errno = EIO;
  return number != faults.failing;
}

extern "C" {

ssize_t write(int file, const void *bytes, size_t count) {
  if (!mayGoOn())
    return -1;
  uint64_t &room = fileFaults().room;
  if (room == 0) {
    errno = ENOSPC;
    return -1;
  }
  count = size_t(std::min<uint64_t>(count, room));
  ssize_t written = syscall(SYS_write, file, bytes, count);
  if (written > 0 && room != UINT64_MAX)
    room -= uint64_t(written);
  return written;
}

int fsync(int file) { return mayGoOn() ? int(syscall(SYS_fsync, file)) : -1; }

int linkat(int from, const char *name, int to, const char *newName,
           int flags) noexcept {
  return mayGoOn() ? int(syscall(SYS_linkat, from, name, to, newName, flags))
                   : -1;
}

int renameat(int from, const char *name, int to, const char *newName) noexcept {
  return mayGoOn() ? int(syscall(SYS_renameat2, from, name, to, newName, 0))
                   : -1;
}

int faccessat(int folder, const char *name, int mode, int flags) noexcept {
  if (!fileFaults().hasProc &&
      std::string_view(name).starts_with("/proc/self/fd/")) {
    errno = ENOENT;
    return -1;
  }
  static auto *next =
      reinterpret_cast<decltype(&faccessat)>(dlsym(RTLD_NEXT, "faccessat"));
  return next(folder, name, mode, flags);
}
}
