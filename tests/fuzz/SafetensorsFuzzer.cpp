/// Weight files: opening trusts nothing, and what opens can be read to the last
/// byte.
#include "runtime/params/Safetensors.h"
#include "tests/fuzz/Fuzzer.h"

#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace sinter::runtime;
using sinter::fuzz::require;

static void readAll(const SafetensorsFile &file) {
  volatile uint8_t sum = 0;
  for (const NamedTensor &tensor : file.tensors())
    for (std::byte byte : tensor.data)
      sum = sum + static_cast<uint8_t>(byte);
}

SINTER_FUZZER(Safetensors) {
  int fd = memfd_create("weights", MFD_CLOEXEC);
  require(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size));
  auto file = SafetensorsFile::open("/proc/self/fd/" + std::to_string(fd));
  if (file)
    readAll(*file);
  else
    require(!file.error().message.empty());
  close(fd);
}
