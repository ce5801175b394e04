/// `sinter cache`: the programs, kernels, machine code, pipelines and tiles on
/// disk.
#include "runtime/params/Json.h"
#include "runtime/program/ProgramCache.h"
#include "tools/sinter/Arguments.h"
#include "tools/sinter/Command.h"
#include "tools/sinter/help/Terminal.h"

#include <fmt/core.h>

namespace sinter::cli {

using namespace runtime;

static constexpr Flag flags[] = {{"--json", nullptr, "print JSON (info)"}};
const Interface cacheInterface = {
    "cache {info,clear,verify} [--json]",
    "info prints where the cache is and how full; clear removes every entry;\n"
    "verify checks every entry's digest and exits with 1 when one is broken.",
    "sinter cache info\n"
    "sinter cache verify",
    flags,
    1,
    1,
    "info clear verify",
};

static int printInfo(bool asJson) {
  CacheInfo info = diskCacheInfo();
  if (asJson) {
    fmt::print("{{\"directory\": {}, \"usable\": {}, \"reason\": {}, "
               "\"entries\": {}, \"kernels\": {}, \"cubins\": {}, "
               "\"pipelines\": {}, \"tiles\": {}, \"bytes\": {}, "
               "\"limit_bytes\": {}}}\n",
               json::quote(info.directory), info.usable,
               json::quote(info.reason), info.entries, info.kernels,
               info.cubins, info.pipelines, info.tiles, info.bytes,
               info.limitBytes);
    return exitOk;
  }
  fmt::print("directory: {}\n", info.directory);
  if (!info.usable)
    fmt::print("not usable: {}\n", info.reason);
  uint64_t programs =
      info.entries - info.kernels - info.cubins - info.pipelines - info.tiles;
  fmt::print("entries: {} ({} programs, {} kernels, {} cubins, {} pipeline "
             "caches, {} choices of tiles), {} of {} bytes\n",
             info.entries, programs, info.kernels, info.cubins, info.pipelines,
             info.tiles, info.bytes, info.limitBytes);
  return exitOk;
}

static int clear() {
  Result<uint64_t> removed = clearDiskCache();
  if (!removed)
    return report(removed.error());
  fmt::print("removed {} entries\n", *removed);
  return exitOk;
}

static int verify() {
  Result<std::vector<std::string>> broken = verifyDiskCache();
  if (!broken)
    return report(broken.error());
  for (const std::string &name : *broken)
    fmt::print("broken: {}\n", name);
  if (!broken->empty())
    return exitFailed;
  fmt::print("every entry is intact\n");
  return exitOk;
}

int runCache(int argc, char **argv) {
  Arguments arguments(argc, argv, cacheInterface);
  if (arguments.exit)
    return *arguments.exit;
  const std::string &action = arguments.positional()[0];
  if (action == "info")
    return printInfo(arguments.has("--json"));
  if (action == "clear")
    return clear();
  if (action == "verify")
    return verify();
  fmt::print(stderr, "{}cache: '{}' is none of info, clear, verify\n",
             errorPrefix(), action);
  return exitUsage;
}

} // namespace sinter::cli
