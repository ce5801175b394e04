/// Entries of choices: a line that says what it is, then a line for each.
#include "runtime/tune/TileTable.h"

#include "runtime/files/DiskCache.h"
#include "runtime/support/Fork.h"
#include "sinter/runtime/Log.h"

#include <map>
#include <mutex>
#include <span>

using namespace sinter;
using namespace sinter::runtime;

namespace {

constexpr std::string_view firstLine = "sinter tiles 1\n";
/// More than a kernel has, of which an entry is.
constexpr size_t mostTiles = 4096;

/// What this process knows, by the key's digits.
struct Known {
  ForkMutex mutex;
  std::map<std::string, TileChoices> choices;
};

// Never destroyed: threads may still compile while the process ends.
Known &known() {
  static auto *all = new Known();
  return *all;
}

std::optional<TileChoices> findOnDisk(const Key &key) {
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepareOrWarn())
    return std::nullopt;
  auto bytes = disk.findBytes(CacheKind::tiles, key);
  if (!bytes) {
    logWarning(bytes.error().message + "; choosing tiles again");
    return std::nullopt;
  }
  if (!*bytes)
    return std::nullopt;
  auto tiles = parseTiles(
      {reinterpret_cast<const char *>((*bytes)->data()), (*bytes)->size()});
  if (!tiles) {
    logWarning(disk.bytesPath(CacheKind::tiles, key) +
               ": it says no tiles; choosing tiles again");
    disk.removeBytes(CacheKind::tiles, key);
  }
  return tiles;
}

} // namespace

std::string sinter::runtime::toText(const TileChoices &tiles) {
  std::string text(firstLine);
  for (const TileChoice &choice : tiles)
    text += choice.kernel + "=" + choice.tile + "\n";
  return text;
}

std::optional<TileChoices> sinter::runtime::parseTiles(std::string_view text) {
  if (!text.starts_with(firstLine))
    return std::nullopt;
  text.remove_prefix(firstLine.size());
  TileChoices tiles;
  while (!text.empty()) {
    size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    size_t equals = line.find('=');
    if (end == text.npos || equals == line.npos || equals == 0 ||
        equals + 1 == line.size() || tiles.size() == mostTiles)
      return std::nullopt;
    tiles.push_back({std::string(line.substr(0, equals)),
                     std::string(line.substr(equals + 1))});
    text.remove_prefix(end + 1);
  }
  return tiles;
}

std::optional<TileChoices> sinter::runtime::findTiles(const Key &key) {
  {
    std::lock_guard lock(known().mutex);
    auto found = known().choices.find(toHex(key));
    if (found != known().choices.end())
      return found->second;
  }
  auto tiles = findOnDisk(key);
  if (tiles) {
    std::lock_guard lock(known().mutex);
    known().choices[toHex(key)] = *tiles;
  }
  return tiles;
}

void sinter::runtime::keepTiles(const Key &key, const TileChoices &tiles) {
  {
    std::lock_guard lock(known().mutex);
    known().choices[toHex(key)] = tiles;
  }
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepare())
    return; // findTiles has warned
  std::string text = toText(tiles);
  if (Status stored = disk.storeBytes(CacheKind::tiles, key,
                                      std::as_bytes(std::span(text)));
      !stored)
    logWarning(stored.error().message + "; chosen tiles are not kept");
}

void sinter::runtime::forgetTiles() {
  std::lock_guard lock(known().mutex);
  known().choices.clear();
}
