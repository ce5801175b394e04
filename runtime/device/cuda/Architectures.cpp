/// GPUs by their compute capability.
#include "runtime/device/cuda/Architectures.h"

#include <fmt/format.h>

namespace sinter::runtime {

// A100, H100 and H200, B200, B300. Cards of 8.6, 8.9 and 12.x run the first
// one's code, too, and have 99 KiB where an A100 has 163.
static constexpr CudaArchitecture all[] = {
    {"sm_80", 80, "sm_80", 99 << 10, 108, 1410, 64, 32, 1446},
    {"sm_90", 90, "sm_90", 227 << 10, 132, 1980, 128, 64, 2400},
    {"sm_100", 100, "sm_90", 227 << 10, 148, 1965, 128, 64, 4070},
    {"sm_103", 103, "sm_90", 227 << 10, 148, 1920, 128, 2, 4160},
};
// Cards from it on have less shared memory again.
static constexpr int smaller = 110;

std::span<const CudaArchitecture> cudaArchitectures() { return all; }

const CudaArchitecture *findCudaArchitecture(std::string_view name) {
  for (const CudaArchitecture &each : all)
    if (each.name == name)
      return &each;
  return nullptr;
}

std::string cudaTargetOf(int capability, int64_t multiprocessors) {
  const CudaArchitecture *found = &all[0];
  for (const CudaArchitecture &each : all)
    if (each.capability <= capability && capability < smaller)
      found = &each;
  std::string target = fmt::format("cuda:{}", found->name);
  if (multiprocessors != found->multiprocessors)
    target += fmt::format("{{multiprocessors={}}}", multiprocessors);
  return target;
}

} // namespace sinter::runtime
