/// CpuImage: one ELF image of kernels, loaded into this process.
#pragma once

#include "runtime/device/Device.h"

namespace sinter::runtime {

/// Loads a shared object from memory: through memfd where the kernel allows
/// it, else through a private file that is unlinked at once. The image stays
/// mapped until the object dies.
Result<std::unique_ptr<Image>> loadCpuImage(std::span<const std::byte> bytes);

/// The second way only; for tests.
Result<std::unique_ptr<Image>>
loadCpuImageFromFile(std::span<const std::byte> bytes);

} // namespace sinter::runtime
