/// Stands before the C library's functions of these names.
#include "tests/unit/params/FileFaults.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <string_view>

#include <fcntl.h>
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
  if (!mayGoOn())
    return -1;
  if (!fileFaults().hasProc && std::string_view(name).starts_with("/proc/")) {
    errno = ENOENT;
    return -1;
  }
  return int(syscall(SYS_linkat, from, name, to, newName, flags));
}

int renameat(int from, const char *name, int to, const char *newName) noexcept {
  return mayGoOn() ? int(syscall(SYS_renameat2, from, name, to, newName, 0))
                   : -1;
}

int openat(int folder, const char *name, int flags, ...) {
  mode_t permissions = 0;
  if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) {
    va_list list;
    va_start(list, flags);
    permissions = va_arg(list, mode_t);
    va_end(list);
    if (!mayGoOn())
      return -1;
  }
  if ((flags & O_TMPFILE) == O_TMPFILE && !fileFaults().hasNameless) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return int(syscall(SYS_openat, folder, name, flags, permissions));
}
}
