/// libFuzzer on `.npy` files: what is read is written and read again.
#include "runtime/params/Npy.h"

using namespace sinter::runtime;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto array = parseNpy(std::as_bytes(std::span(data, size)));
  if (!array) {
    if (array.error().message.empty())
      __builtin_trap();
    return 0;
  }
  auto header = npyHeader(array->dtype, array->dims);
  if (!header)
    __builtin_trap();
  auto text = std::as_bytes(std::span(*header));
  std::vector<std::byte> file(text.begin(), text.end());
  file.insert(file.end(), array->bytes.begin(), array->bytes.end());
  auto again = parseNpy(file);
  if (!again || again->dims != array->dims || again->bytes != array->bytes)
    __builtin_trap();
  return 0;
}
