/// Files of the program cache: trust, atomic writes, eviction.
#include "runtime/program/DiskCache.h"

#include "runtime/params/MappedFile.h"
#include "runtime/program/ModelReader.h"
#include "runtime/support/FileDescriptor.h"
#include "runtime/support/Flags.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr std::string_view suffix = ".sinter";
constexpr std::string_view temporaryPrefix = ".writing-";
constexpr int64_t staleNanoseconds = int64_t(3600) * 1'000'000'000;

ErrorInfo cacheError(const std::string &what, const std::string &why) {
  return makeError(ErrorKind::io,
                   fmt::format("program cache: {}: {}", what, why));
}

ErrorInfo systemError(const std::string &what) {
  return cacheError(what, std::strerror(errno));
}

/// Makes a directory and those above it, all private.
bool makeFolders(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0)
    return false;
  return makeFolders(path.substr(0, slash)) &&
         (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

int64_t nanoseconds(const timespec &time) {
  return int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool isEntryName(std::string_view name) {
  return name.size() == 32 + suffix.size() && name.ends_with(suffix);
}

struct CloseFolder {
  void operator()(DIR *folder) const { closedir(folder); }
};

/// Calls `visit(name, stat)` for each regular file of a folder.
template <typename Visit>
void forEachFile(const std::string &folder, Visit visit) {
  std::unique_ptr<DIR, CloseFolder> list(opendir(folder.c_str()));
  if (!list)
    return;
  while (dirent *item = readdir(list.get())) {
    struct stat status;
    if (fstatat(dirfd(list.get()), item->d_name, &status,
                AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
      visit(std::string(item->d_name), status);
  }
}

std::string defaultFolder() {
  if (!flags().cacheDir.empty())
    return flags().cacheDir;
  if (const char *base = std::getenv("XDG_CACHE_HOME"); base && *base)
    return std::string(base) + "/sinter";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/sinter";
  return {};
}

} // namespace

DiskCache DiskCache::fromEnvironment() {
  std::string folder = defaultFolder();
  while (folder.size() > 1 && folder.back() == '/')
    folder.pop_back();
  return {std::move(folder),
          uint64_t(std::max<int64_t>(0, flags().cacheLimit))};
}

Status DiskCache::check() const {
  if (folder.empty())
    return cacheError("no directory", "neither SINTER_CACHE_DIR, "
                                      "XDG_CACHE_HOME nor HOME is set");
  struct stat status;
  if (lstat(folder.c_str(), &status) != 0)
    return systemError(folder);
  if (!S_ISDIR(status.st_mode))
    return cacheError(folder, "it is not a directory");
  if (status.st_uid != geteuid())
    return cacheError(folder, fmt::format("it belongs to user {}, not to {}",
                                          status.st_uid, geteuid()));
  if (status.st_mode & 077)
    return cacheError(folder, fmt::format("others may enter it (mode {:o}, "
                                          "must be 700)",
                                          status.st_mode & 0777));
  return {};
}

Status DiskCache::prepare() const {
  if (!folder.empty() && !makeFolders(folder))
    return systemError(folder);
  return check();
}

std::string DiskCache::path(const Key &key) const {
  return fmt::format("{}/{}{}", folder, toHex(key), suffix);
}

Result<std::shared_ptr<const Program>> DiskCache::find(const Key &key,
                                                       Device &device) const {
  std::string name = path(key);
  struct stat status;
  if (lstat(name.c_str(), &status) != 0) {
    if (errno == ENOENT)
      return std::shared_ptr<const Program>();
    return systemError(name);
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
    return cacheError(name, "it is not a file of this user");
  auto program = Program::loadFile(name, device);
  if (!program) {
    unlink(name.c_str());
    return program.takeError();
  }
  utimensat(AT_FDCWD, name.c_str(), nullptr, 0);
  return program;
}

Status DiskCache::store(const Key &key, std::span<const std::byte> file) const {
  if (file.size() > limit)
    return cacheError(folder, fmt::format("a program of {} bytes is larger "
                                          "than the limit of {}",
                                          file.size(), limit));
  static std::atomic<uint32_t> counter{0};
  std::string temporary =
      fmt::format("{}/{}{}-{}-{}", folder, temporaryPrefix, getpid(),
                  counter.fetch_add(1), toHex(key));
  {
    FileDescriptor out(
        ::open(temporary.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out)
      return systemError(temporary);
    if (!out.writeAll(file)) {
      ErrorInfo error = systemError(temporary);
      unlink(temporary.c_str());
      return error;
    }
  }
  if (rename(temporary.c_str(), path(key).c_str()) != 0) {
    ErrorInfo error = systemError(path(key));
    unlink(temporary.c_str());
    return error;
  }
  evict();
  return {};
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> list;
  forEachFile(folder, [&](const std::string &name, const struct stat &status) {
    if (isEntryName(name))
      list.push_back(
          {name, uint64_t(status.st_size), nanoseconds(status.st_mtim)});
  });
  std::sort(list.begin(), list.end(), [](const Entry &a, const Entry &b) {
    return std::pair(a.usedNanoseconds, a.name) <
           std::pair(b.usedNanoseconds, b.name);
  });
  return list;
}

void DiskCache::evict() const {
  // One process cleans at a time; a second one leaves it to the first.
  FileDescriptor lock(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return;
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  forEachFile(folder, [&](const std::string &name, const struct stat &status) {
    if (name.starts_with(temporaryPrefix) &&
        nanoseconds(now) - nanoseconds(status.st_mtim) > staleNanoseconds)
      unlink((folder + "/" + name).c_str());
  });
  std::vector<Entry> list = entries();
  uint64_t total = 0;
  for (const Entry &entry : list)
    total += entry.bytes;
  for (const Entry &entry : list) {
    if (total <= limit)
      return;
    if (unlink((folder + "/" + entry.name).c_str()) == 0)
      total -= entry.bytes;
  }
}

CacheInfo DiskCache::info() const {
  CacheInfo info;
  info.directory = folder;
  info.limitBytes = limit;
  Status usable = check();
  info.usable = usable.ok();
  if (!usable) {
    info.reason = usable.error().message;
    return info;
  }
  for (const Entry &entry : entries()) {
    ++info.entries;
    info.bytes += entry.bytes;
  }
  return info;
}

Result<uint64_t> DiskCache::clear() const {
  SINTER_TRY(check());
  uint64_t removed = 0;
  for (const Entry &entry : entries()) {
    std::string name = folder + "/" + entry.name;
    if (unlink(name.c_str()) != 0 && errno != ENOENT)
      return systemError(name);
    ++removed;
  }
  return removed;
}

Result<std::vector<std::string>> DiskCache::verify() const {
  SINTER_TRY(check());
  std::vector<std::string> broken;
  for (const Entry &entry : entries()) {
    auto mapped = MappedFile::open(folder + "/" + entry.name);
    if (!mapped || !readModel(mapped->bytes()))
      broken.push_back(entry.name);
  }
  return broken;
}
