/// A new file beside the old one, in whose place it goes when it is whole.
#include "runtime/files/ReplaceFile.h"

#include "runtime/files/FileDescriptor.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/SignalHold.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sinter::runtime {

namespace {

constexpr std::string_view temporaryPrefix = ".sinter-";
constexpr std::string_view temporarySuffix = ".tmp";
constexpr size_t randomDigits = 32;

/// With its slash; the current one where `path` names none.
std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? "./" : path.substr(0, slash + 1);
}

std::string baseOf(const std::string &path) {
  return path.substr(path.rfind('/') + 1); // npos + 1 is 0
}

ErrorInfo ioError(const std::string &path, std::string_view why) {
  return makeError(ErrorKind::io, fmt::format("{}: {}", path, why));
}

/// When a new file gets its first name. At the end, a process that is killed
/// leaves nothing; but not every file system has files without names, or gives
/// them one later, and that takes /proc, which some containers do not have.
enum class Naming : uint8_t { atEnd, atOnce };

/// A file that has no name, or one of its own, until it takes another's place.
class Temporary {
public:
  /// For the folder, which must outlive it.
  explicit Temporary(int folder) : folder(folder) {}
  Temporary(const Temporary &) = delete;
  ~Temporary() {
    if (!name.empty())
      ::unlinkat(folder, name.c_str(), 0);
  }

  /// False where it fails; errno says why.
  bool open(mode_t permissions, Naming naming);
  /// Gets the owner and permissions of another, as far as that is allowed.
  void takeAfter(const struct stat &old) const;
  /// Gives it a name where it has none. As `open`.
  bool giveName();
  /// As `open`.
  bool rename(const std::string &base);

  const FileDescriptor &opened() const { return file; }

private:
  bool pickName();

  int folder;
  FileDescriptor file{-1};
  std::string name; ///< empty while it has none
};

} // namespace

bool Temporary::pickName() {
  std::array<uint64_t, 2> bits;
  if (::getrandom(bits.data(), sizeof(bits), 0) != ssize_t(sizeof(bits)))
    return false;
  name = fmt::format("{}{:016x}{:016x}{}", temporaryPrefix, bits[0], bits[1],
                     temporarySuffix);
  return true;
}

bool Temporary::open(mode_t permissions, Naming naming) {
  constexpr int flags = O_WRONLY | O_CLOEXEC;
  if (naming == Naming::atEnd)
    file =
        FileDescriptor(::openat(folder, ".", flags | O_TMPFILE, permissions));
  else if (pickName())
    file = FileDescriptor(::openat(folder, name.c_str(),
                                   flags | O_CREAT | O_EXCL | O_NOFOLLOW,
                                   permissions));
  if (!file)
    name.clear();
  return bool(file);
}

void Temporary::takeAfter(const struct stat &old) const {
  mode_t permissions = old.st_mode & 0777;
  if (::fchown(file.get(), old.st_uid, old.st_gid) != 0 &&
      ::fchown(file.get(), uid_t(-1), old.st_gid) != 0)
    permissions &= ~mode_t(070); // they were another group's
  // Who may read it less than before is no reason to lose it.
  [[maybe_unused]] int ignored = ::fchmod(file.get(), permissions);
}

bool Temporary::giveName() {
  if (!name.empty())
    return true;
  std::string opened = fmt::format("/proc/self/fd/{}", file.get());
  bool isNamed = pickName() && ::linkat(AT_FDCWD, opened.c_str(), folder,
                                        name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  if (!isNamed)
    name.clear();
  return isNamed;
}

bool Temporary::rename(const std::string &base) {
  if (::renameat(folder, name.c_str(), folder, base.c_str()) != 0)
    return false;
  name.clear();
  return true;
}

/// False where writing fails; errno says why. An error where a part cannot be
/// made.
static Result<bool> writeParts(const FileDescriptor &file,
                               const FileContents &contents) {
  for (size_t i = 0; i < contents.count; ++i) {
    SINTER_TRY_ASSIGN(std::span<const std::byte> part, contents.part(i));
    if (!file.writeAll(part))
      return false;
  }
  return true;
}

/// By what errno says. `file` is what was written of, if there is one.
static ErrorInfo failure(const std::string &path, std::string what,
                         const FileContents &contents,
                         const FileDescriptor &file) {
  int reason = errno;
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG)
    what += fmt::format(": {} bytes are needed", contents.size);
  struct statvfs room = {};
  struct stat written = {};
  if (reason == ENOSPC && ::fstatvfs(file.get(), &room) == 0 &&
      ::fstat(file.get(), &written) == 0 && S_ISREG(written.st_mode)) {
    // What was written goes away again.
    constexpr uint64_t blockBytes = 512;
    what += fmt::format(", {} are free",
                        uint64_t(room.f_bavail) * room.f_frsize +
                            uint64_t(written.st_blocks) * blockBytes);
  }
  errno = reason;
  return systemError(path, what);
}

static bool sync(int file) {
  while (::fsync(file) != 0)
    if (errno != EINTR)
      return false;
  return true;
}

/// Makes the rename itself durable; a file system that cannot sync a folder is
/// no reason to fail.
static void syncFolder(int folder) {
  FileDescriptor file(
      ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file)
    sync(file.get());
}

namespace {
struct NewFile {
  mode_t permissions = 0666;
  const struct stat *old = nullptr; ///< whose owner and permissions it gets
  bool durable = true;
};
} // namespace

/// Whether it is in its place; false where that needs a name from the start.
static Result<bool> putNew(const std::string &path,
                           const FileContents &contents, const NewFile &wanted,
                           int folder, Naming naming) {
  Temporary file(folder);
  if (!file.open(wanted.permissions, naming)) {
    if (naming == Naming::atEnd)
      return false;
    return failure(path, "cannot create", contents, file.opened());
  }
  if (wanted.old)
    file.takeAfter(*wanted.old);
  // Some file systems find out that they are full when they sync.
  SINTER_TRY_ASSIGN(bool isWritten, writeParts(file.opened(), contents));
  if (!isWritten || (wanted.durable && !sync(file.opened().get())))
    return failure(path, "cannot write", contents, file.opened());
  if (!file.giveName())
    return false;
  if (!file.rename(baseOf(path)))
    return failure(path, "cannot replace", contents, file.opened());
  return true;
}

/// `path` is no link, or one that is to go.
static Status putInPlace(const std::string &path, const FileContents &contents,
                         const NewFile &wanted) {
  if (baseOf(path).empty())
    return ioError(path, "this is no name of a file");
  FileDescriptor folder(
      ::open(folderOf(path).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return systemError(path, "cannot create");
  SignalHold hold;
  SINTER_TRY_ASSIGN(bool isThere, putNew(path, contents, wanted, folder.get(),
                                         Naming::atEnd));
  if (!isThere)
    SINTER_TRY(putNew(path, contents, wanted, folder.get(), Naming::atOnce));
  if (wanted.durable)
    syncFolder(folder.get());
  return {};
}

static Status writeInto(const std::string &path, const FileContents &contents) {
  // Without waiting for a reader, who may never come.
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!file && errno == ENXIO)
    return ioError(path, "cannot write: nobody reads from this FIFO");
  int flags = file ? ::fcntl(file.get(), F_GETFL) : -1;
  if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK) != 0)
    return systemError(path, "cannot write");
  SignalHold hold;
  SINTER_TRY_ASSIGN(bool isWritten, writeParts(file, contents));
  if (!isWritten)
    return failure(path, "cannot write", contents, file);
  return {};
}

/// The name at the end of the links that begin at `path`.
static Result<std::string> followLinks(const std::string &path) {
  constexpr int mostLinks = 40; // as the kernel follows
  std::string at = path;
  for (int links = 0; links < mostLinks; ++links) {
    std::array<char, PATH_MAX> target;
    ssize_t length = ::readlink(at.c_str(), target.data(), target.size());
    if (length < 0 && (errno == EINVAL || errno == ENOENT))
      return at; // not a link, or nothing yet
    if (length < 0)
      return systemError(path, "cannot follow");
    std::string_view next(target.data(), size_t(length));
    at = next.starts_with('/') ? std::string(next) : folderOf(at).append(next);
  }
  errno = ELOOP;
  return systemError(path, "cannot follow");
}

static Status putNewFile(const std::string &path,
                         const FileContents &contents) {
  SINTER_TRY_ASSIGN(std::string target, followLinks(path));
  return putInPlace(target, contents, {});
}

/// There was a regular file.
static Status replaceOld(const std::string &path,
                         const FileContents &contents) {
  constexpr int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  SINTER_TRY_ASSIGN(std::string target, followLinks(path));
  FileDescriptor opened(::open(target.c_str(), flags));
  struct stat old = {};
  // Others may remove the file and make it again, any number of times.
  for (int tries = 0; !opened && errno == ENOENT; ++tries) {
    if (::stat(path.c_str(), &old) != 0)
      return putNewFile(path, contents);
    if (tries == 1000) // a link in /proc to what is gone
      return ioError(path, "cannot replace: the file has no name any more");
    opened = FileDescriptor(::open(target.c_str(), flags));
  }
  if (!opened || ::fstat(opened.get(), &old) != 0)
    return systemError(path, "cannot write");
  // Nobody else may read it before it has the old one's permissions.
  return putInPlace(target, contents, {.permissions = 0600, .old = &old});
}

Status replaceFile(const std::string &path, const FileContents &contents) {
  struct stat old = {};
  if (::stat(path.c_str(), &old) != 0) {
    if (errno != ENOENT)
      return systemError(path, "cannot write");
    return putNewFile(path, contents);
  }
  switch (old.st_mode & S_IFMT) {
  case S_IFREG:
    return replaceOld(path, contents);
  case S_IFIFO:
  case S_IFCHR:
    return writeInto(path, contents);
  case S_IFDIR:
    return ioError(path, "cannot write: it is a directory");
  case S_IFSOCK:
    return ioError(path, "cannot write: it is a socket");
  default:
    return ioError(path, "cannot write: it is a block device");
  }
}

/// Parts that are there.
static FileContents contentsOf(FileParts parts) {
  FileContents contents;
  for (auto part : parts)
    contents.size += part.size();
  contents.count = parts.size();
  contents.part = [parts](size_t i) { return parts[i]; };
  return contents;
}

Status replaceFile(const std::string &path, FileParts parts) {
  return replaceFile(path, contentsOf(parts));
}

Status replaceCached(const std::string &path, FileParts parts) {
  return putInPlace(path, contentsOf(parts),
                    {.permissions = 0600, .durable = false});
}

bool isTemporaryName(std::string_view name) {
  return name.size() ==
             temporaryPrefix.size() + randomDigits + temporarySuffix.size() &&
         name.starts_with(temporaryPrefix) && name.ends_with(temporarySuffix);
}

} // namespace sinter::runtime
