/// The files below a folder.
#include "frontend/datasets/Listing.h"

#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace sinter::data {

namespace {

namespace fs = std::filesystem;

ErrorInfo broken(const std::string &path, std::string_view what) {
  return makeError(ErrorKind::io,
                   fmt::format("{}: {}", printableName(path), what));
}

bool endsIn(std::string_view name, std::span<const std::string> endings) {
  auto same = [](char a, char b) {
    auto lower = [](char c) {
      return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
    };
    return lower(a) == lower(b);
  };
  return endings.empty() ||
         std::ranges::any_of(endings, [&](const std::string &ending) {
           return name.size() >= ending.size() &&
                  std::ranges::equal(name.substr(name.size() - ending.size()),
                                     ending, same);
         });
}

class Walk {
public:
  Walk(const std::string &folder, std::span<const std::string> endings)
      : base(folder), endings(endings) {}

  Result<std::vector<std::string>> files() {
    SINTER_TRY(enter({}));
    std::ranges::sort(found);
    return std::move(found);
  }

private:
  using Identity = std::pair<dev_t, ino_t>;

  fs::path base;
  std::span<const std::string> endings;
  std::vector<std::string> found;
  std::vector<Identity> open; ///< folders that the walk is in

  Status enter(const fs::path &below) {
    std::string path = below.empty() ? base : base / below;
    struct stat info = {};
    if (::stat(path.c_str(), &info) != 0)
      return broken(path, strerror(errno));
    Identity own(info.st_dev, info.st_ino);
    if (std::ranges::find(open, own) != open.end())
      return broken(path, "a link to a folder that it is in");
    constexpr size_t deepest = 256;
    if (open.size() == deepest)
      return broken(path, "folders within more than 256 others");
    open.push_back(own);
    std::error_code error;
    fs::directory_iterator entries(path, error);
    if (error)
      return broken(path, error.message());
    for (; entries != fs::directory_iterator(); entries.increment(error)) {
      SINTER_TRY(visit(below / entries->path().filename(), *entries));
      if (error)
        return broken(path, error.message());
    }
    if (error)
      return broken(path, error.message());
    open.pop_back();
    return {};
  }

  Status visit(const fs::path &below, const fs::directory_entry &entry) {
    std::string name = below.filename();
    if (name.starts_with('.'))
      return {};
    std::error_code error;
    fs::file_status status = entry.status(error);
    if (status.type() == fs::file_type::not_found)
      return broken(entry.path(), "a link that leads nowhere");
    if (error)
      return broken(entry.path(), error.message());
    if (fs::is_directory(status))
      return enter(below);
    if (fs::is_regular_file(status) && endsIn(name, endings))
      found.push_back(below);
    return {};
  }
};

Result<std::vector<std::string>> listFolders(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error)
    return broken(folder, error.message());
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    std::string name = entries->path().filename();
    std::error_code ignored;
    if (!name.starts_with('.') && entries->is_directory(ignored))
      names.push_back(std::move(name));
    if (error)
      break;
  }
  if (error)
    return broken(folder, error.message());
  std::ranges::sort(names);
  return names;
}

} // namespace

Result<std::vector<std::string>>
listFiles(const std::string &folder, std::span<const std::string> endings) {
  return Walk(folder, endings).files();
}

Result<ClassListing> listClasses(const std::string &folder,
                                 std::span<const std::string> endings,
                                 std::vector<std::string> classes) {
  SINTER_TRY_ASSIGN(auto folders, listFolders(folder));
  if (classes.empty())
    classes = folders;
  ClassListing listing;
  for (const std::string &name : folders) {
    auto place = std::ranges::find(classes, name);
    std::string path = fs::path(folder) / name;
    if (place == classes.end())
      return broken(path, "a folder of none of the given classes");
    SINTER_TRY_ASSIGN(auto files, listFiles(path, endings));
    for (const std::string &file : files)
      listing.files.push_back({fs::path(path) / file, place - classes.begin()});
  }
  if (listing.files.empty())
    return broken(folder, "no file of any class is in its folders");
  listing.classes = std::move(classes);
  return listing;
}

} // namespace sinter::data
