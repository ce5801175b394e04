/// Tables of tiles: what is read is written as it was.
#include "runtime/tune/TileTable.h"
#include "tests/fuzz/Fuzzer.h"

using namespace sinter::runtime;

SINTER_FUZZER(Tiles) {
  std::string_view text(reinterpret_cast<const char *>(data), size);
  if (auto tiles = parseTiles(text))
    sinter::fuzz::require(toText(*tiles) == text);
}
