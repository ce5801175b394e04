/// Chooses the kernel that copies the largest units.
#include "runtime/device/vulkan/VulkanCopies.h"

#include "sinter/generated/copy1.h"
#include "sinter/generated/copy16.h"
#include "sinter/generated/copy4.h"

#include <algorithm>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// As the kernels declare it.
constexpr uint64_t threads = 256;
/// Workgroups that any device takes; where there are fewer than units, threads
/// copy several.
constexpr uint64_t mostGroups = 65535;

struct CopyKernel {
  uint64_t unit;
  const char *name;
  std::span<const uint32_t> words;
};
constexpr CopyKernel kernels[] = {
    {16, "copy16", copy16}, {4, "copy4", copy4}, {1, "copy1", copy1}};

bool isThere(const CopyKernel &kernel, const VulkanGpu &gpu) {
  return gpu.about.int64 && (kernel.unit > 1 || gpu.about.int8);
}

} // namespace

Status VulkanCopies::load() {
  std::lock_guard lock(mutex);
  if (image)
    return {};
  std::vector<uint32_t> modules;
  for (const CopyKernel &kernel : kernels) {
    if (!isThere(kernel, gpu))
      continue;
    modules.push_back(uint32_t(kernel.words.size()));
    modules.insert(modules.end(), kernel.words.begin(), kernel.words.end());
  }
  SINTER_TRY_ASSIGN(image, device.loadImage(std::as_bytes(std::span(modules))));
  return {};
}

Status VulkanCopies::pack(const CopyArgs &copy, VulkanLaunch &launch) {
  SINTER_TRY(load());
  auto to = reinterpret_cast<uintptr_t>(copy.to),
       from = reinterpret_cast<uintptr_t>(copy.from);
  auto fits = [&](const CopyKernel &kernel) {
    return isThere(kernel, gpu) && (to | from | copy.bytes) % kernel.unit == 0;
  };
  const auto *kernel = std::ranges::find_if(kernels, fits);
  launch.pipeline = nullptr;
  if (kernel == std::end(kernels))
    return {};
  uint64_t units = copy.bytes / kernel->unit;
  launch.pipeline =
      static_cast<const VulkanKernel *>(image->find(kernel->name))->pipeline;
  launch.words = {units, to, from};
  launch.columns =
      uint32_t(std::min(mostGroups, (units + threads - 1) / threads));
  launch.rows = launch.layers = 1;
  return {};
}
