/// Entries of the disk cache: heads and digests.
#include "runtime/files/DiskCache.h"
#include "tests/fuzz/Fuzzer.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using sinter::fuzz::require;

static const DiskCache &cache() {
  static const DiskCache made = [] {
    std::string folder = "/tmp/sinter-fuzz-" + std::to_string(getpid());
    DiskCache disk(folder, 1 << 20);
    require(disk.prepare().ok());
    std::atexit([] {
      std::filesystem::remove_all("/tmp/sinter-fuzz-" +
                                  std::to_string(getpid()));
    });
    return disk;
  }();
  return made;
}

SINTER_FUZZER(Cache) {
  Key key = keyOfText("corpus"); // that of the first input
  {
    std::ofstream file(cache().bytesPath(CacheKind::kernel, key),
                       std::ios::binary);
    file.write(reinterpret_cast<const char *>(data),
               static_cast<std::streamsize>(size));
  }
  auto found = cache().findBytes(CacheKind::kernel, key);
  require(found || !found.error().message.empty());
}
