/// libFuzzer on `.npz` files: directories, headers and packed data.
#include "runtime/params/Npz.h"

using namespace sinter::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr uint64_t limit = 1 << 24;
  auto arrays = parseNpz(std::as_bytes(std::span(data, size)), limit);
  if (!arrays) {
    if (arrays.error().message.empty())
      __builtin_trap();
    return 0;
  }
  uint64_t total = 0;
  for (const auto &[name, array] : *arrays)
    total += array.bytes.size();
  if (total > limit)
    __builtin_trap();
  return 0;
}
