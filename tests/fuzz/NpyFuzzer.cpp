/// `.npy` files: what is read is written and read again.
#include "runtime/params/Npy.h"
#include "tests/fuzz/Fuzzer.h"

using namespace sinter::runtime;
using sinter::fuzz::require;

SINTER_FUZZER(Npy) {
  auto array = parseNpy(sinter::fuzz::bytesOf(data, size));
  if (!array)
    return require(!array.error().message.empty());
  auto header = npyHeader(array->dtype, array->dims);
  require(header.ok());
  auto text = std::as_bytes(std::span(*header));
  std::vector<std::byte> file(text.begin(), text.end());
  file.insert(file.end(), array->bytes.begin(), array->bytes.end());
  auto again = parseNpy(file);
  require(again && again->dims == array->dims && again->bytes == array->bytes);
}
