/// Images of Vulkan programs, and of processors': both are taken apart before
/// a driver or the dynamic loader sees them.
#include "runtime/device/cpu/CheckImage.h"
#include "runtime/device/vulkan/SpirvModule.h"
#include "tests/fuzz/Fuzzer.h"

using namespace sinter::runtime;
using sinter::fuzz::require;

SINTER_FUZZER(Image) {
  std::span<const std::byte> image = sinter::fuzz::bytesOf(data, size);
  auto modules = readSpirv(image);
  require(modules || !modules.error().message.empty());
  auto checked = checkCpuImage(image);
  require(checked || !checked.error().message.empty());
}
