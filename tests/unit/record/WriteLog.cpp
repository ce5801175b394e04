/// Stands before the C library's functions of these names.
#include "tests/unit/record/WriteLog.h"

#include <cstdarg>
#include <cstdlib>
#include <map>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using record_test::FileChange;
using Kind = FileChange::Kind;

static thread_local record_test::WriteLog *current = nullptr;

record_test::WriteLog::WriteLog() { current = this; }
record_test::WriteLog::~WriteLog() { current = nullptr; }

/// What tells one file from another, whatever its names are.
static int numberOf(int descriptor) {
  struct stat info = {};
  ::fstat(descriptor, &info);
  return int(info.st_ino);
}

static void note(FileChange change) {
  if (current)
    current->changes.push_back(std::move(change));
}

static bool isFolder(int descriptor) {
  struct stat info = {};
  return ::fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode);
}

extern "C" {

ssize_t write(int file, const void *bytes, size_t count) {
  uint64_t offset = uint64_t(::lseek(file, 0, SEEK_CUR));
  ssize_t written = syscall(SYS_write, file, bytes, count);
  if (current && written > 0)
    note({Kind::write,
          numberOf(file),
          {},
          {},
          offset,
          std::string(static_cast<const char *>(bytes), size_t(written))});
  return written;
}

int fsync(int file) {
  note({isFolder(file) ? Kind::syncFolder : Kind::sync,
        numberOf(file),
        {},
        {},
        0,
        {}});
  return int(syscall(SYS_fsync, file));
}

int linkat(int from, const char *name, int to, const char *newName,
           int flags) noexcept {
  constexpr std::string_view opened = "/proc/self/fd/";
  if (std::string_view(name).starts_with(opened))
    note({Kind::link,
          numberOf(int(std::strtol(name + opened.size(), nullptr, 10))),
          newName,
          {},
          0,
          {}});
  return int(syscall(SYS_linkat, from, name, to, newName, flags));
}

int renameat(int from, const char *name, int to, const char *newName) noexcept {
  note({Kind::rename, 0, name, newName, 0, {}});
  return int(syscall(SYS_renameat2, from, name, to, newName, 0));
}

int unlinkat(int folder, const char *name, int flags) noexcept {
  note({Kind::unlink, 0, name, {}, 0, {}});
  return int(syscall(SYS_unlinkat, folder, name, flags));
}

int openat(int folder, const char *name, int flags, ...) {
  mode_t permissions = 0;
  bool isNew = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  if (isNew) {
    va_list list;
    va_start(list, flags);
    permissions = va_arg(list, mode_t);
    va_end(list);
  }
  int file = int(syscall(SYS_openat, folder, name, flags, permissions));
  if (isNew && file >= 0 && current)
    note({Kind::create,
          numberOf(file),
          (flags & O_TMPFILE) == O_TMPFILE ? "" : name,
          {},
          0,
          {}});
  return file;
}
}
