/// Interns source lines: one lock on first sight, none on a repeat.
#include "runtime/support/Sites.h"

#include "runtime/support/ChunkedTable.h"
#include "runtime/support/Flags.h"
#include "runtime/support/Fork.h"
#include "runtime/support/ThreadOwner.h"

#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sinter {

namespace {
/// File, line and caller.
using SiteKey = std::tuple<std::string_view, uint32_t, SiteId>;

struct SiteTable {
  ForkMutex mutex;
  std::vector<std::pair<std::string, std::string>> prefixes;
  std::unordered_map<std::string, std::string_view> mapped; // as seen -> stored
  std::set<std::string> files, functions;
  std::map<SiteKey, SiteId> ids;
  ChunkedTable<Site> sites;

  SiteTable();
  std::string_view mapFile(std::string_view file);
  SiteId find(std::string_view file, uint32_t line, SiteId caller,
              std::string_view function);
};

/// A table of its own: it is written while the process is being loaded, which
/// is too early to read flags.
struct LibraryPrefixes {
  ForkMutex mutex;
  std::vector<std::string> prefixes;
};

struct CacheEntry {
  const char *file = nullptr;
  uint32_t line = 0;
  SiteId caller = 0;
  SiteId id = 0;
};
} // namespace

SiteTable::SiteTable() {
  sites.append(Site()); // id 0 is "unknown"
  std::string_view rest = flags().prefixMap;
  while (!rest.empty()) {
    std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    size_t equals = pair.find('=');
    if (equals != std::string_view::npos)
      prefixes.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  std::error_code code;
  std::string here = std::filesystem::current_path(code).string();
  if (!code && here.size() > 1)
    prefixes.emplace_back(here + "/", "");
}

/// The stored spelling of a path. Called under the lock.
std::string_view SiteTable::mapFile(std::string_view file) {
  auto [entry, isNew] = mapped.try_emplace(std::string(file));
  if (!isNew)
    return entry->second;
  std::string stored(file);
  for (const auto &[from, to] : prefixes) {
    if (!stored.starts_with(from))
      continue;
    stored = to + stored.substr(from.size());
    break;
  }
  entry->second = *files.insert(std::move(stored)).first;
  return entry->second;
}

static SiteTable &table() {
  static SiteTable *instance = new SiteTable; // outlives static tensors
  return *instance;
}

static LibraryPrefixes &libraryPrefixes() {
  static LibraryPrefixes *instance = new LibraryPrefixes;
  return *instance;
}

void addLibraryPrefix(std::string_view prefix) {
  LibraryPrefixes &library = libraryPrefixes();
  std::lock_guard lock(library.mutex);
  library.prefixes.emplace_back(prefix);
}

/// Of a file's name as the compiler gave it.
static bool isOfLibrary(std::string_view file) {
  constexpr std::string_view headers = "include/sinter/";
  size_t at = file.find(headers);
  if (at != std::string_view::npos && (at == 0 || file[at - 1] == '/'))
    return true;
  LibraryPrefixes &library = libraryPrefixes();
  std::lock_guard lock(library.mutex);
  for (const std::string &prefix : library.prefixes)
    if (file.starts_with(prefix))
      return true;
  return false;
}

/// The id of a line, under the lock.
SiteId SiteTable::find(std::string_view file, uint32_t line, SiteId caller,
                       std::string_view function) {
  std::string_view stored = mapFile(file);
  auto [entry, isNew] = ids.try_emplace({stored, line, caller}, 0);
  if (isNew) {
    std::string_view kept = *functions.insert(std::string(function)).first;
    entry->second = sites.append({stored, line, caller, kept});
  }
  return entry->second;
}

SiteId internSite(std::string_view file, uint32_t line) {
  SiteTable &sites = table();
  std::lock_guard lock(sites.mutex);
  return sites.find(file, line, 0, {});
}

/// `Net::forward` of `ns::Tensor ns::Net::forward(const Tensor&) const`: its
/// last two names. A lambda has none.
static std::string functionName(std::string signature) {
  for (std::string_view unnamed : {"{anonymous}::", "(anonymous namespace)::"})
    for (size_t at; (at = signature.find(unnamed)) != std::string::npos;)
      signature.erase(at, unnamed.size());
  if (signature.find("<lambda") != std::string::npos)
    return {};
  size_t begin = 0, end = 0;
  int depth = 0; // of template arguments
  for (; end < signature.size(); ++end) {
    char letter = signature[end];
    if (letter == '(' && depth == 0)
      break;
    depth += (letter == '<') - (letter == '>');
    if (letter == ' ' && depth == 0)
      begin = end + 1;
  }
  std::string name = signature.substr(begin, end - begin);
  size_t last = name.rfind("::");
  if (last != std::string::npos && last != 0)
    if (size_t before = name.rfind("::", last - 1); before != std::string::npos)
      name.erase(0, before + 2);
  return name.ends_with("operator") ? name + "()" : name;
}

/// The first sight of a line by this thread.
static SiteId internSlowly(const std::source_location &location,
                           SiteId caller) {
  constexpr size_t longest = 16;
  std::string function = functionName(location.function_name());
  SiteTable &sites = table();
  std::lock_guard lock(sites.mutex);
  std::string_view file = location.file_name();
  if (caller != 0) {
    const Site &from = *sites.sites.find(caller);
    // A function of the library may pass on the line that called it.
    bool isPassedOn =
        from.line == location.line() && from.file == sites.mapFile(file);
    if (isPassedOn || isOfLibrary(file))
      return caller;
    size_t length = 2;
    for (SiteId at = caller; (at = sites.sites.find(at)->caller) != 0;)
      ++length;
    if (length > longest)
      caller = sites.sites.find(caller)->caller;
  }
  return sites.find(file, location.line(), caller, function);
}

SiteId internSite(const std::source_location &location, SiteId caller) {
  constexpr size_t slots = 512;
  using Cache = std::array<CacheEntry, slots>;
  static SINTER_THREAD_LOCAL Cache *cache;
  if (!cache) [[unlikely]] {
    cache = new Cache;
    static thread_local ThreadOwner<Cache> owner(cache);
  }
  const char *file = location.file_name();
  uint32_t line = location.line();
  auto address = reinterpret_cast<uintptr_t>(file);
  size_t slot = ((address >> 3) * 31 + line + caller * 97) % slots;
  CacheEntry &entry = (*cache)[slot];
  if (entry.file == file && entry.line == line && entry.caller == caller &&
      entry.id != 0)
    return entry.id;
  entry = {file, line, caller, internSlowly(location, caller)};
  return entry.id;
}

Site siteOf(SiteId id) {
  const Site *site = table().sites.find(id);
  return site ? *site : Site();
}

std::string lineString(SiteId id) {
  Site site = siteOf(id);
  if (site.file.empty())
    return {};
  return std::string(site.file) + ":" + std::to_string(site.line);
}

std::string siteString(SiteId id) {
  std::string text;
  while (id != 0) {
    Site site = siteOf(id);
    if (!text.empty())
      text += ", from ";
    // Who called all is seldom more than `main`.
    if (site.caller != 0 && !site.function.empty())
      text += std::string(site.function) + " at ";
    text += lineString(id);
    id = site.caller;
  }
  return text;
}

void addSitePrefix(std::string_view from, std::string_view to) {
  SiteTable &sites = table();
  std::lock_guard lock(sites.mutex);
  sites.prefixes.emplace(sites.prefixes.begin(), from, to);
  sites.mapped.clear();
}

} // namespace sinter
