/// Folders of the Hub, imported once.
#include <sinter/data/HubFolder.h>

#include "frontend/Raise.h"
#include "frontend/datasets/Database.h"
#include "frontend/datasets/HubImport.h"
#include "frontend/datasets/HubLayout.h"
#include "runtime/files/FileDescriptor.h"
#include "runtime/files/SystemError.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/file.h>
#include <utility>
#include <xxhash.h>

namespace sinter::data {

namespace {

namespace fs = std::filesystem;

/// Letters that names of files have everywhere.
std::string plainName(std::string_view text) {
  std::string name;
  for (char c : text.substr(0, 64)) {
    bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   (c >= '0' && c <= '9');
    name += isPlain ? c : '_';
  }
  return name;
}

/// The file of a split, whose name differs from those of other folders, too.
Result<std::string> cacheFile(const std::string &folder,
                              const std::string &config,
                              const std::string &split,
                              const HubFolderOptions &options) {
  fs::path cache = options.cache.empty() ? fs::path(folder) / ".sinter"
                                         : fs::path(options.cache);
  std::error_code error;
  fs::create_directories(cache, error);
  if (error)
    return makeError(
        ErrorKind::io,
        fmt::format("{}: cannot make the cache: {}; another folder "
                    "for it is an option",
                    printableName(cache.string()), error.message()));
  std::string full = fs::weakly_canonical(folder, error);
  std::string key = full + '\n' + config + '\n' + split;
  return (cache / fmt::format("{}-{}-{:016x}.sqlite", plainName(config),
                              plainName(split),
                              XXH3_64bits(key.data(), key.size())))
      .string();
}

/// What the cached file says that it was made of; nothing where there is none,
/// or a damaged one, which is made anew.
std::optional<std::string> cachedFingerprint(const std::string &file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    return std::nullopt;
  auto database = Database::openToRead(file);
  if (!database)
    return std::nullopt;
  auto query = database->prepare(fmt::format(
      "SELECT value FROM {} WHERE key='{}'", metaTable, fingerprintKey));
  if (!query)
    return std::nullopt;
  auto found = query->step();
  if (!found || !*found)
    return std::nullopt;
  return std::string(query->text(0));
}

/// Keeps other processes and threads from the same import.
Result<FileDescriptor> lockBeside(const std::string &file) {
  std::string path = file + ".lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock)
    return runtime::systemError(path, "cannot open");
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      return runtime::systemError(path, "cannot lock");
  return lock;
}

struct Imported {
  std::string file;
  int64_t filesRead = 0;
};

ErrorInfo noSplit(const std::string &folder, const std::string &split,
                  const HubLayout &layout) {
  std::string names;
  for (const auto &[name, files] : layout.splits)
    names += (names.empty() ? "" : ", ") + printableName(name);
  return makeError(ErrorKind::invalid_argument,
                   fmt::format("{}: it has no split '{}', but: {}",
                               printableName(folder), printableName(split),
                               names));
}

Result<Imported> import(const std::string &folder, const std::string &split,
                        const HubFolderOptions &options) {
  SINTER_TRY_ASSIGN(HubLayout layout, findLayout(folder, options.config));
  auto files = layout.splits.find(split);
  if (files == layout.splits.end())
    return noSplit(folder, split, layout);
  Imported imported;
  SINTER_TRY_ASSIGN(imported.file,
                    cacheFile(folder, layout.config, split, options));
  SINTER_TRY_ASSIGN(std::string fingerprint,
                    hubFingerprint(folder, files->second));
  if (cachedFingerprint(imported.file) == fingerprint)
    return imported;
  SINTER_TRY_ASSIGN(auto lock, lockBeside(imported.file));
  if (cachedFingerprint(imported.file) == fingerprint)
    return imported;
  SINTER_TRY_ASSIGN(
      imported.filesRead,
      importHub({folder, files->second, split, fingerprint, imported.file}));
  return imported;
}

} // namespace

HubFolder::Opened HubFolder::open(const std::string &folder,
                                  const std::string &split,
                                  const HubFolderOptions &options,
                                  const std::source_location &where) {
  Imported imported = detail::unwrap(import(folder, split, options), where);
  Sqlite rows(imported.file, {.table = "items"}, where);
  return {std::move(imported.file), imported.filesRead, std::move(rows)};
}

HubFolder::HubFolder(Opened opened)
    : cached(std::move(opened.cached)), filesRead(opened.filesRead),
      rows(std::move(opened.rows)) {}

HubFolder::HubFolder(const std::string &folder, const std::string &split,
                     const HubFolderOptions &options,
                     std::source_location where) try
    : HubFolder(open(folder, split, options, where)) {
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<std::string> hub_splits(const std::string &folder,
                                    const std::string &config,
                                    std::source_location where) try {
  std::vector<std::string> names;
  HubLayout layout = detail::unwrap(findLayout(folder, config), where);
  for (const auto &[name, files] : layout.splits)
    names.push_back(name);
  return names;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter::data
