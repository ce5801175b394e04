/// Files of the program and kernel caches: trust, atomic writes, eviction.
#include "runtime/files/DiskCache.h"

#include "runtime/digest/Digest.h"
#include "runtime/files/FileDescriptor.h"
#include "runtime/files/ReplaceFile.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr std::array kinds = {CacheKind::program, CacheKind::kernel,
                              CacheKind::machineCode, CacheKind::pipelines,
                              CacheKind::tiles};
/// Temporary files that nobody wrote to for so long are nobody's.
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
  case CacheKind::program:
    return ".sinter";
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

/// What the name of an entry says.
struct EntryName {
  CacheKind kind = CacheKind::program;
  Key key;
};

std::optional<EntryName> readName(std::string_view name) {
  constexpr size_t digits = 16; // of each half of a key
  EntryName entry;
  if (name.size() < 2 * digits)
    return std::nullopt;
  auto kind = std::ranges::find(kinds, name.substr(2 * digits), suffixOf);
  const char *middle = name.data() + digits, *end = middle + digits;
  if (kind == kinds.end() ||
      std::from_chars(name.data(), middle, entry.key.high, 16).ptr != middle ||
      std::from_chars(middle, end, entry.key.low, 16).ptr != end)
    return std::nullopt;
  entry.kind = *kind;
  return entry;
}

/// What stands before an entry's bytes.
struct EntryHead {
  std::array<char, 8> magic = {'S', 'I', 'N', 'T', 'K', 'R', 0, 2};
  uint64_t kind = 0;
  Key key;
  uint64_t bytes = 0;
  Digest digest = {};     ///< of the bytes
  Digest headDigest = {}; ///< of all before it
};
static_assert(sizeof(EntryHead) == 72);

Digest headDigestOf(const EntryHead &head) {
  return digestOf(std::as_bytes(std::span(&head, 1))
                      .first(offsetof(EntryHead, headDigest)));
}

EntryHead headOf(const EntryName &name, std::span<const std::byte> bytes) {
  EntryHead head{.kind = uint64_t(name.kind),
                 .key = name.key,
                 .bytes = bytes.size(),
                 .digest = digestOf(bytes)};
  head.headDigest = headDigestOf(head);
  return head;
}

/// The bytes behind an intact head of that name. Errors do not name the file.
Result<FileBytes> readEntry(const FileDescriptor &file, uint64_t size,
                            const EntryName &name) {
  EntryHead head;
  ErrorInfo altered = makeError(ErrorKind::io, "the digest is wrong");
  if (size < sizeof(head) ||
      !file.readAll(std::as_writable_bytes(std::span(&head, 1))) ||
      head.magic != EntryHead().magic ||
      head.headDigest != headDigestOf(head) ||
      head.bytes != size - sizeof(head))
    return altered;
  SINTER_TRY_ASSIGN(FileBytes bytes, FileBytes::read(file, head.bytes));
  if (head.digest != digestOf(bytes.bytes()))
    return altered;
  if (head.kind != uint64_t(name.kind) || head.key != name.key)
    return makeError(ErrorKind::io,
                     fmt::format("it is the entry {}{}", toHex(head.key),
                                 suffixOf(CacheKind(head.kind))));
  return bytes;
}

/// Opens an entry and marks it used. Nothing where it is absent; an error where
/// it is not a file of this user.
Result<std::optional<FileDescriptor>> openEntry(const std::string &path,
                                                struct stat &status) {
  constexpr int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  FileDescriptor file(::open(path.c_str(), flags));
  if (!file && errno == ENOENT)
    return std::optional<FileDescriptor>();
  if (!file && errno != ELOOP)
    return systemError(path);
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid())
    return cacheError(path, "it is not a file of this user");
  futimens(file.get(), nullptr);
  return std::optional(std::move(file));
}

/// Removes a broken entry, unless somebody has put another in its place.
void removeBroken(const std::string &path, const struct stat &broken) {
  struct stat now;
  if (lstat(path.c_str(), &now) == 0 && now.st_ino == broken.st_ino &&
      now.st_dev == broken.st_dev)
    unlink(path.c_str());
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
  ForkMutex mutex;
  std::optional<uint64_t> known; ///< when last looked at
  uint64_t since = 0;            ///< written by this process after that
};

Fill &fillOf(const std::string &folder) {
  static auto &mutex = *new ForkMutex;
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
    return cacheError(folder,
                      fmt::format("others may enter it (mode {:o}, it holds "
                                  "code that is run): chmod 700 {}",
                                  status.st_mode & 0777, folder));
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

std::string DiskCache::bytesPath(CacheKind kind, const Key &key) const {
  return fmt::format("{}/{}{}", folder, toHex(key), suffixOf(kind));
}

Result<std::optional<FileBytes>> DiskCache::findFile(CacheKind kind,
                                                     const Key &key) const {
  std::string path = bytesPath(kind, key);
  struct stat status = {};
  SINTER_TRY_ASSIGN(auto file, openEntry(path, status));
  if (!file)
    return std::optional<FileBytes>();
  auto bytes = readEntry(*file, uint64_t(status.st_size), {kind, key});
  if (bytes)
    return std::optional(*std::move(bytes));
  ErrorInfo error = bytes.takeError();
  if (error.kind == ErrorKind::io)
    removeBroken(path, status);
  error.message = cacheError(path, error.message).message;
  return error;
}

Result<std::optional<std::vector<std::byte>>>
DiskCache::findBytes(CacheKind kind, const Key &key) const {
  SINTER_TRY_ASSIGN(auto file, findFile(kind, key));
  if (!file)
    return std::optional<std::vector<std::byte>>();
  auto bytes = file->bytes();
  return std::optional(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

void DiskCache::removeBytes(CacheKind kind, const Key &key) const {
  unlink(bytesPath(kind, key).c_str());
}

Status DiskCache::storeBytes(CacheKind kind, const Key &key,
                             std::span<const std::byte> bytes) const {
  EntryHead head = headOf({kind, key}, bytes);
  uint64_t size = sizeof(head) + bytes.size();
  if (size > limit)
    return cacheError(folder, fmt::format("an entry of {} bytes is larger "
                                          "than the limit of {}",
                                          size, limit));
  std::span<const std::byte> parts[] = {std::as_bytes(std::span(&head, 1)),
                                        bytes};
  if (Status stored = replaceCached(bytesPath(kind, key), parts); !stored) {
    ErrorInfo error = stored.takeError();
    error.message = "program cache: " + error.message;
    return error;
  }
  if (fillOf(folder).add(size, limit))
    evict();
  return {};
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  std::vector<Entry> list;
  forEachFile(folder, [&](const std::string &name, const struct stat &status) {
    if (readName(name))
      list.push_back(
          {name, uint64_t(status.st_size), nanoseconds(status.st_mtim)});
  });
  std::sort(list.begin(), list.end(), [](const Entry &a, const Entry &b) {
    return std::pair(a.usedNanoseconds, a.name) <
           std::pair(b.usedNanoseconds, b.name);
  });
  return list;
}

void DiskCache::removeStale() const {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  forEachFile(folder, [&](const std::string &name, const struct stat &status) {
    if (isTemporaryName(name) &&
        nanoseconds(now) - nanoseconds(status.st_mtim) > staleNanoseconds)
      unlink((folder + "/" + name).c_str());
  });
}

void DiskCache::evict() const {
  // One process cleans at a time; a second one leaves it to the first.
  FileDescriptor lock(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return;
  removeStale();
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
    if (unlink((folder + "/" + entry.name).c_str()) == 0 || errno == ENOENT)
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
    CacheKind kind = readName(entry.name)->kind;
    ++info.entries;
    info.kernels += kind == CacheKind::kernel;
    info.cubins += kind == CacheKind::machineCode;
    info.pipelines += kind == CacheKind::pipelines;
    info.tiles += kind == CacheKind::tiles;
    info.bytes += entry.bytes;
  }
  return info;
}

Result<uint64_t> DiskCache::clear() const {
  SINTER_TRY(check());
  removeStale();
  uint64_t removed = 0;
  for (const Entry &entry : entries()) {
    std::string name = folder + "/" + entry.name;
    bool isGone = unlink(name.c_str()) == 0;
    if (!isGone && errno != ENOENT)
      return systemError(name);
    removed += isGone;
  }
  return removed;
}

/// An entry that somebody removed meanwhile is not broken.
static bool isBroken(const std::string &path, const EntryName &name,
                     const DiskCache::Usable &usable) {
  struct stat status = {};
  auto file = openEntry(path, status);
  if (!file || !*file)
    return !file;
  auto bytes = readEntry(**file, uint64_t(status.st_size), name);
  return !bytes || (usable && !usable(name.kind, bytes->bytes()));
}

Result<std::vector<std::string>> DiskCache::verify(const Usable &usable) const {
  SINTER_TRY(check());
  std::vector<std::string> broken;
  for (const Entry &entry : entries())
    if (isBroken(folder + "/" + entry.name, *readName(entry.name), usable))
      broken.push_back(entry.name);
  return broken;
}
