/// Files of the program and kernel caches: trust, atomic writes, eviction.
#include "runtime/program/DiskCache.h"

#include "runtime/params/MappedFile.h"
#include "runtime/program/FileFormat.h"
#include "runtime/program/ModelReader.h"
#include "runtime/support/FileDescriptor.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <xxhash.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr std::string_view programSuffix = ".sinter";
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

std::string_view suffixOf(CacheKind kind) {
  switch (kind) {
  case CacheKind::kernel:
    return ".kernel";
  case CacheKind::machineCode:
    return ".cubin";
  case CacheKind::pipelines:
    return ".pipelines";
  default:
    return ".tiles";
  }
}

bool isName(std::string_view name, std::string_view suffix) {
  return name.size() == 32 + suffix.size() && name.ends_with(suffix);
}

bool isName(std::string_view name, CacheKind kind) {
  return isName(name, suffixOf(kind));
}

bool isProgramName(std::string_view name) {
  return isName(name, programSuffix);
}

bool isEntryName(std::string_view name) {
  return isProgramName(name) || isName(name, CacheKind::kernel) ||
         isName(name, CacheKind::machineCode) ||
         isName(name, CacheKind::pipelines) || isName(name, CacheKind::tiles);
}

/// What stands before an entry's bytes. A program has its own digests.
struct BytesHead {
  std::array<char, 8> magic = {'S', 'I', 'N', 'T', 'K', 'R', 0, 1};
  uint64_t bytes = 0;
  Digest digest = {};
  bool operator==(const BytesHead &) const = default;
};
static_assert(sizeof(BytesHead) == 32);

BytesHead headOf(std::span<const std::byte> bytes) {
  return {.bytes = bytes.size(), .digest = digestOf(bytes)};
}

/// The bytes behind an intact head.
std::optional<std::span<const std::byte>>
bytesBehindHead(std::span<const std::byte> file) {
  BytesHead head;
  if (file.size() < sizeof(head))
    return std::nullopt;
  std::memcpy(&head, file.data(), sizeof(head));
  std::span<const std::byte> bytes = file.subspan(sizeof(head));
  if (head != headOf(bytes))
    return std::nullopt;
  return bytes;
}

/// Whether `path` is an entry to open: false when it is absent, an error when
/// it is not a file of this user. Marks it used.
Result<bool> touchEntry(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT)
      return false;
    return systemError(path);
  }
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid())
    return cacheError(path, "it is not a file of this user");
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return true;
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

/// What this process knows of how full a directory is, so that it need not look
/// at all of it for every entry. Thread-safe.
class Fill {
public:
  /// Adds a written entry; whether it is time to look.
  bool add(uint64_t written, uint64_t limit) {
    std::lock_guard lock(mutex);
    since += written;
    return !known || *known + since > limit || since > limit / 16;
  }

  void set(uint64_t bytes) {
    std::lock_guard lock(mutex);
    known = bytes;
    since = 0;
  }

private:
  std::mutex mutex;
  std::optional<uint64_t> known; ///< when last looked at
  uint64_t since = 0;            ///< written by this process after that
};

Fill &fillOf(const std::string &folder) {
  static std::mutex mutex;
  static auto &all = *new std::map<std::string, Fill>;
  std::lock_guard lock(mutex);
  return all[folder];
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

Key sinter::runtime::keyOfText(std::string_view text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.high64, hash.low64};
}

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

bool DiskCache::prepareOrWarn() const {
  Status usable = prepare();
  if (!usable)
    logWarning(usable.error().message + "; nothing is kept");
  return usable.ok();
}

std::string DiskCache::programPath(const Key &key) const {
  return fmt::format("{}/{}{}", folder, toHex(key), programSuffix);
}

std::string DiskCache::bytesPath(CacheKind kind, const Key &key) const {
  return fmt::format("{}/{}{}", folder, toHex(key), suffixOf(kind));
}

Result<std::shared_ptr<const Program>>
DiskCache::findProgram(const Key &key, Device &device) const {
  std::string path = programPath(key);
  SINTER_TRY_ASSIGN(bool present, touchEntry(path));
  if (!present)
    return std::shared_ptr<const Program>();
  auto program = Program::loadFile(path, device);
  if (!program)
    unlink(path.c_str());
  return program;
}

Result<std::optional<std::vector<std::byte>>>
DiskCache::findBytes(CacheKind kind, const Key &key) const {
  std::string path = bytesPath(kind, key);
  SINTER_TRY_ASSIGN(bool present, touchEntry(path));
  if (!present)
    return std::optional<std::vector<std::byte>>();
  SINTER_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  auto bytes = bytesBehindHead(file.bytes());
  if (!bytes) {
    unlink(path.c_str());
    return cacheError(path, "the digest is wrong");
  }
  return std::optional(std::vector<std::byte>(bytes->begin(), bytes->end()));
}

void DiskCache::removeBytes(CacheKind kind, const Key &key) const {
  unlink(bytesPath(kind, key).c_str());
}

Status DiskCache::storeProgram(const Key &key,
                               std::span<const std::byte> file) const {
  return store(programPath(key), {}, file);
}

Status DiskCache::storeBytes(CacheKind kind, const Key &key,
                             std::span<const std::byte> bytes) const {
  BytesHead head = headOf(bytes);
  return store(bytesPath(kind, key), std::as_bytes(std::span(&head, 1)), bytes);
}

Status DiskCache::store(const std::string &path,
                        std::span<const std::byte> head,
                        std::span<const std::byte> bytes) const {
  uint64_t size = head.size() + bytes.size();
  if (size > limit)
    return cacheError(folder, fmt::format("an entry of {} bytes is larger "
                                          "than the limit of {}",
                                          size, limit));
  static std::atomic<uint32_t> counter{0};
  std::string temporary = fmt::format("{}/{}{}-{}", folder, temporaryPrefix,
                                      getpid(), counter.fetch_add(1));
  {
    FileDescriptor out(
        ::open(temporary.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out)
      return systemError(temporary);
    if (!out.writeAll(head) || !out.writeAll(bytes)) {
      ErrorInfo error = systemError(temporary);
      unlink(temporary.c_str());
      return error;
    }
  }
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    ErrorInfo error = systemError(path);
    unlink(temporary.c_str());
    return error;
  }
  if (fillOf(folder).add(size, limit))
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
  // Some room is made at once, or a full directory would be looked at for
  // every entry.
  uint64_t enough = total > limit ? limit - limit / 16 : limit;
  for (const Entry &entry : list) {
    if (total <= enough)
      break;
    if (unlink((folder + "/" + entry.name).c_str()) == 0)
      total -= entry.bytes;
  }
  fillOf(folder).set(total);
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
    info.kernels += isName(entry.name, CacheKind::kernel);
    info.cubins += isName(entry.name, CacheKind::machineCode);
    info.pipelines += isName(entry.name, CacheKind::pipelines);
    info.tiles += isName(entry.name, CacheKind::tiles);
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
    bool intact =
        mapped && (isProgramName(entry.name)
                       ? readModel(mapped->bytes()).ok()
                       : bytesBehindHead(mapped->bytes()).has_value());
    if (!intact)
      broken.push_back(entry.name);
  }
  return broken;
}
