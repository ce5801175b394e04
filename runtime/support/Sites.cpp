/// Interns source lines: one lock on first sight, none on a repeat.
#include "runtime/support/Sites.h"

#include "runtime/support/ChunkedTable.h"
#include "runtime/support/Flags.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sinter {

namespace {
struct SiteTable {
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> prefixes;
  std::unordered_map<std::string, std::string_view> mapped; // as seen -> stored
  std::set<std::string> files;
  std::map<std::pair<std::string_view, uint32_t>, SiteId> ids;
  ChunkedTable<Site> sites;

  SiteTable();
  std::string_view mapFile(std::string_view file);
};

struct CacheEntry {
  const char *file = nullptr;
  uint32_t line = 0;
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

SiteId internSite(std::string_view file, uint32_t line) {
  SiteTable &sites = table();
  std::lock_guard lock(sites.mutex);
  std::string_view stored = sites.mapFile(file);
  auto [entry, isNew] = sites.ids.try_emplace({stored, line}, 0);
  if (isNew)
    entry->second = sites.sites.append({stored, line});
  return entry->second;
}

SiteId internSite(const std::source_location &location) {
  // Too large for the quick kind of thread-local storage, which a pointer fits.
  constexpr size_t slots = 512;
  __attribute__((
      tls_model("initial-exec"))) static thread_local CacheEntry *cache;
  if (!cache) [[unlikely]] {
    static thread_local CacheEntry entries[slots];
    cache = entries;
  }
  const char *file = location.file_name();
  uint32_t line = location.line();
  auto address = reinterpret_cast<uintptr_t>(file);
  size_t slot = ((address >> 3) * 31 + line) % slots;
  CacheEntry &entry = cache[slot];
  if (entry.file == file && entry.line == line && entry.id != 0)
    return entry.id;
  entry = {file, line, internSite(std::string_view(file), line)};
  return entry.id;
}

Site siteOf(SiteId id) {
  const Site *site = table().sites.find(id);
  return site ? *site : Site();
}

std::string siteString(SiteId id) {
  Site site = siteOf(id);
  if (site.file.empty())
    return {};
  return std::string(site.file) + ":" + std::to_string(site.line);
}

void addSitePrefix(std::string_view from, std::string_view to) {
  SiteTable &sites = table();
  std::lock_guard lock(sites.mutex);
  sites.prefixes.emplace(sites.prefixes.begin(), from, to);
  sites.mapped.clear();
}

} // namespace sinter
