/// `.npz` files: directories, headers and packed data.
#include "runtime/params/Npz.h"
#include "tests/fuzz/Fuzzer.h"

using namespace sinter::runtime;
using sinter::fuzz::require;

SINTER_FUZZER(Npz) {
  constexpr uint64_t limit = 1 << 24;
  auto arrays = parseNpz(sinter::fuzz::bytesOf(data, size), limit);
  if (!arrays)
    return require(!arrays.error().message.empty());
  uint64_t total = 0;
  for (const auto &[name, array] : *arrays)
    total += array.bytes.size();
  require(total <= limit);
}
