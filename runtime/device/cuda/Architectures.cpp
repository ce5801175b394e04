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

std::string cudaTargetOf(const CudaCard &card) {
  const CudaArchitecture *usual = &all[0];
  for (const CudaArchitecture &each : all)
    if (each.capability <= card.capability && card.capability < smaller)
      usual = &each;
  std::string own;
  auto state = [&](std::string_view name, int64_t number) {
    own += fmt::format("{}{}={}", own.empty() ? "" : "+", name, number);
  };
  if (card.multiprocessors != usual->multiprocessors)
    state("multiprocessors", card.multiprocessors);
  if (card.registers != usual->registers)
    state("registers", card.registers);
  if (card.threads != usual->threads)
    state("threads", card.threads);
  if (card.blockBytes > usual->blockBytes)
    state("shared_bytes", card.blockBytes);
  return own.empty() ? fmt::format("cuda:{}", usual->name)
                     : fmt::format("cuda:{}{{{}}}", usual->name, own);
}

} // namespace sinter::runtime
