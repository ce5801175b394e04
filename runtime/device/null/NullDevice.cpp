/// The smallest device: memory, no code.
#include "runtime/device/null/NullDevice.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

std::string NullDevice::description() const {
  return "no kernels; plain reference loops compute";
}

std::string NullDevice::profile() const { return ""; }

Result<std::unique_ptr<Image>>
NullDevice::loadImage(std::span<const std::byte> bytes) {
  return makeError(ErrorKind::unsupported,
                   fmt::format("null: cannot load an image of {} bytes, the "
                               "device runs no native code",
                               bytes.size()));
}

Status NullDevice::launch(const LaunchArgs &args) {
  return makeError(ErrorKind::unsupported,
                   fmt::format("null: cannot run launch {}, the device runs no "
                               "native code",
                               args.block ? args.block->launch : 0));
}
