/// Which files are which split of a folder of the Hub.
#include "frontend/datasets/HubLayout.h"

#include "frontend/datasets/Listing.h"
#include "runtime/files/MappedFile.h"
#include "runtime/support/Printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

namespace sinter::data {

bool fitsGlob(std::string_view path, std::string_view pattern) {
  // The last star, and how far it reaches: going back to it alone is enough, as
  // an earlier one could match no more.
  struct Star {
    size_t pattern, path;
    bool slashes;         ///< it holds these, too
    bool folders = false; ///< it holds whole folders alone
  };
  std::optional<Star> star, wide;
  size_t p = 0, s = 0;
  auto widen = [&](std::optional<Star> &last) {
    if (!last || last->path >= path.size() ||
        (!last->slashes && path[last->path] == '/'))
      return false;
    ++last->path;
    while (last->folders && path[last->path - 1] != '/')
      if (++last->path > path.size())
        return false;
    s = last->path;
    p = last->pattern;
    return true;
  };
  while (s < path.size() || p < pattern.size()) {
    if (pattern.substr(p).starts_with("**")) {
      p += 2;
      bool folders = p < pattern.size() && pattern[p] == '/' &&
                     (p < 3 || pattern[p - 3] == '/');
      p += folders ? 1 : 0;
      wide = Star{p, s, true, folders};
      star.reset();
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = Star{++p, s, false};
    } else if (s < path.size() && p < pattern.size() &&
               (pattern[p] == path[s] ||
                (pattern[p] == '?' && path[s] != '/'))) {
      ++p;
      ++s;
    } else if (!widen(star)) {
      star.reset();
      if (!widen(wide))
        return false;
    }
  }
  return true;
}

namespace {

constexpr std::array<std::string_view, 5> readable = {".jsonl", ".json", ".csv",
                                                      ".tsv", ".txt"};
constexpr std::array<std::string_view, 3> columnar = {".parquet", ".arrow",
                                                      ".feather"};

std::string_view nameOf(std::string_view path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool isData(std::string_view path) {
  if (path.ends_with(".gz"))
    path.remove_suffix(3);
  auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
  std::string_view name = nameOf(path);
  for (std::string_view other :
       {"dataset_infos.json", "dataset_info.json", "state.json", "config.json",
        "LICENSE.txt", "license.txt"})
    if (name == other)
      return false;
  return std::ranges::any_of(readable, ends) ||
         std::ranges::any_of(columnar, ends);
}

/// What may stand before and behind a word.
bool isMark(char c) {
  return c == '-' || c == '.' || c == '_' || c == ' ' || (c >= '0' && c <= '9');
}

using Splits = std::set<std::string>;

/// Adds the splits that words of one part of a path say.
void addSplits(std::string_view part, Splits &found) {
  constexpr std::array<std::pair<std::string_view, const char *>, 10> words = {{
      {"train", "train"},
      {"training", "train"},
      {"validation", "validation"},
      {"valid", "validation"},
      {"val", "validation"},
      {"dev", "validation"},
      {"test", "test"},
      {"testing", "test"},
      {"eval", "test"},
      {"evaluation", "test"},
  }};
  size_t begin = 0;
  while (begin < part.size()) {
    size_t end = begin;
    while (end < part.size() && !isMark(part[end]))
      ++end;
    for (const auto &[word, split] : words)
      if (part.substr(begin, end - begin) == word)
        found.insert(split);
    begin = end + 1;
  }
}

Splits splitsOfFolders(std::string_view path) {
  Splits found;
  for (size_t slash = path.find('/'); slash != path.npos;
       slash = path.find('/')) {
    addSplits(path.substr(0, slash), found);
    path.remove_prefix(slash + 1);
  }
  return found;
}

Splits splitsOfName(std::string_view path) {
  Splits found;
  addSplits(nameOf(path), found);
  return found;
}

/// `data/SPLIT-00000-of-00002.jsonl`
Splits splitOfShard(std::string_view path) {
  constexpr std::string_view folder = "data/";
  constexpr std::string_view shape = "-00000-of-00000";
  if (!path.starts_with(folder))
    return {};
  path.remove_prefix(folder.size());
  for (size_t at = 1; at + shape.size() <= path.size(); ++at) {
    auto fits = [](char c, char wanted) {
      return wanted == '0' ? c >= '0' && c <= '9' : c == wanted;
    };
    if (std::ranges::equal(path.substr(at, shape.size()), shape, fits))
      return {std::string(path.substr(0, at))};
  }
  return {};
}

HubSplits splitsByNames(const std::vector<std::string> &files) {
  HubSplits splits;
  for (auto *rule : {splitOfShard, splitsOfFolders, splitsOfName}) {
    for (const std::string &file : files)
      for (const std::string &split : rule(file))
        splits[split].push_back(file);
    if (!splits.empty())
      return splits;
  }
  if (!files.empty())
    splits["train"] = files;
  return splits;
}

/// One entry of `configs`.
class Config {
public:
  Config(const Cell &entry, const std::vector<std::string> &files)
      : entry(entry), files(files) {}

  std::string name() const { return text("config_name").value_or("default"); }
  bool isDefault() const { return text("default") == "true"; }

  Result<HubSplits> splits() const {
    std::vector<std::string> inside = files;
    std::string folder = text("data_dir").value_or("");
    if (!folder.empty()) {
      folder = std::filesystem::path(folder).lexically_normal();
      if (!folder.ends_with('/'))
        folder += '/';
      std::erase_if(inside, [&](const std::string &file) {
        return !file.starts_with(folder);
      });
    }
    const Cell *wanted = entry.find("data_files");
    if (!wanted || wanted->is_null())
      return splitsByNames(inside);
    HubSplits found;
    if (isSplitList(*wanted)) {
      for (const Cell &one : *wanted->get_if<std::vector<Cell>>()) {
        const Cell *split = one.find("split");
        SINTER_TRY(add(found[*split->get_if<std::string>()], *one.find("path"),
                       folder));
      }
    } else
      SINTER_TRY(add(found["train"], *wanted, folder));
    return found;
  }

private:
  const Cell &entry;
  const std::vector<std::string> &files;

  std::optional<std::string> text(std::string_view key) const {
    const Cell *cell = entry.find(key);
    const auto *text = cell ? cell->get_if<std::string>() : nullptr;
    return text ? std::optional(*text) : std::nullopt;
  }

  static bool isSplitList(const Cell &wanted) {
    const auto *list = wanted.get_if<std::vector<Cell>>();
    return list && !list->empty() &&
           std::ranges::all_of(*list, [](const Cell &one) {
             const Cell *split = one.find("split");
             return split && split->get_if<std::string>() && one.find("path");
           });
  }

  /// Files that fit a pattern, or one of a list.
  Status add(std::vector<std::string> &to, const Cell &patterns,
             const std::string &folder) const {
    if (const auto *list = patterns.get_if<std::vector<Cell>>()) {
      for (const Cell &one : *list)
        SINTER_TRY(add(to, one, folder));
      return {};
    }
    const auto *pattern = patterns.get_if<std::string>();
    if (!pattern)
      return makeError(ErrorKind::unsupported,
                       fmt::format("README.md: data_files of config '{}' are "
                                   "neither a pattern nor a list",
                                   printableName(name())));
    std::string full = folder + *pattern;
    bool isEmpty = true;
    for (const std::string &file : files) {
      if (!fitsGlob(file, full))
        continue;
      isEmpty = false;
      if (std::ranges::find(to, file) == to.end())
        to.push_back(file);
    }
    if (isEmpty)
      return makeError(ErrorKind::io,
                       fmt::format("README.md: no file fits '{}' of config "
                                   "'{}'",
                                   printableName(full), printableName(name())));
    return {};
  }
};

Result<std::string> readReadme(const std::string &folder) {
  std::string path = std::filesystem::path(folder) / "README.md";
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return std::string();
  SINTER_TRY_ASSIGN(auto file, runtime::MappedFile::open(path));
  auto bytes = file.bytes();
  return std::string(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size());
}

Result<const Config *> choose(const std::vector<Config> &configs,
                              const std::string &wanted) {
  std::string names;
  const Config *marked = configs.size() == 1 ? configs.data() : nullptr;
  const Config *byName = nullptr;
  for (const Config &config : configs) {
    names += (names.empty() ? "" : ", ") + printableName(config.name());
    if (config.isDefault())
      marked = &config;
    if (config.name() == (wanted.empty() ? "default" : wanted))
      byName = &config;
  }
  if (wanted.empty() && marked)
    return marked;
  if (byName)
    return byName;
  return makeError(ErrorKind::invalid_argument,
                   wanted.empty()
                       ? "it has several configs; name one of: " + names
                       : fmt::format("it has no config '{}', but: {}",
                                     printableName(wanted), names));
}

Result<HubLayout> layoutOf(const std::string &folder,
                           const std::string &wanted) {
  SINTER_TRY_ASSIGN(auto files, listFiles(folder, {}));
  std::erase_if(files, [](const std::string &file) { return !isData(file); });
  SINTER_TRY_ASSIGN(std::string readme, readReadme(folder));
  SINTER_TRY_ASSIGN(Cell entries, readHubConfigs(readme));
  std::vector<Config> configs;
  if (const auto *list = entries.get_if<std::vector<Cell>>())
    for (const Cell &entry : *list)
      configs.emplace_back(entry, files);
  if (configs.empty()) {
    if (!wanted.empty() && wanted != "default")
      return makeError(ErrorKind::invalid_argument,
                       fmt::format("it has no config '{}', as its README.md "
                                   "has no configs",
                                   printableName(wanted)));
    return HubLayout{"default", splitsByNames(files)};
  }
  SINTER_TRY_ASSIGN(const Config *config, choose(configs, wanted));
  SINTER_TRY_ASSIGN(HubSplits splits, config->splits());
  return HubLayout{config->name(), std::move(splits)};
}

} // namespace

Result<HubLayout> findLayout(const std::string &folder,
                             const std::string &config) {
  auto layout = layoutOf(folder, config);
  std::string name = printableName(folder);
  if (!layout) {
    ErrorInfo error = layout.takeError();
    if (!error.message.starts_with(name))
      error.message = name + ": " + error.message;
    return error;
  }
  if (layout->splits.empty())
    return makeError(ErrorKind::io,
                     name + ": it has no files of data: JSON lines, JSON, CSV, "
                            "TSV or text");
  return layout;
}

} // namespace sinter::data
