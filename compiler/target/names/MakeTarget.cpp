/// Targets by name.
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/vulkan/VulkanTarget.h"

using namespace mlir;

namespace sinter::compiler {

static std::shared_ptr<const Target> makeCpu(std::string_view name,
                                             std::string_view level) {
  auto features = cpuFeatures(level);
  if (!features)
    return nullptr;
  return std::make_shared<CpuTarget>(std::string(name), std::move(*features));
}

static Result<std::shared_ptr<const Target>> makeCuda(std::string_view name,
                                                      std::string_view rest) {
  size_t brace = std::min(rest.find('{'), rest.size());
  std::string_view card = rest.substr(brace);
  const runtime::CudaArchitecture *architecture = runtime::findCudaArchitecture(
      rest.empty() ? oldestArchitecture : rest.substr(0, brace));
  if (!architecture)
    return std::shared_ptr<const Target>();
  Machines machines;
  machines.usual = measuredMachine();
  machines.usual.multiprocessors = architecture->multiprocessors;
  machines.usual.clockMegahertz = architecture->clockMegahertz;
  machines.usual.operations = architecture->operations;
  machines.usual.wideOperations = architecture->wideOperations;
  machines.usual.memoryBytes = architecture->memoryBytes;
  machines.usual.registers = architecture->registers;
  machines.usual.threads = architecture->threads;
  machines.usual.sharedBytes = architecture->blockBytes;
  // What only Hopper's own instructions ask for.
  if (architecture->capability != 90)
    machines.usual.matrixOperations = machines.usual.cacheReadBytes = 0;
  machines.own = machines.usual;
  if (!card.empty()) {
    SINTER_TRY_ASSIGN(machines.own, parseMachine(card, machines.usual));
  }
  return std::shared_ptr<const Target>(
      std::make_shared<CudaTarget>(std::string(name), *architecture, machines));
}

static std::shared_ptr<const Target> makeVulkan(std::string_view name,
                                                std::string_view features) {
  auto profile = parseVulkanProfile(features);
  if (!profile)
    return nullptr;
  return std::make_shared<VulkanTarget>(std::string(name), std::move(*profile));
}

Result<std::shared_ptr<const Target>> makeTarget(std::string_view name) {
  size_t colon = name.find(':');
  std::string_view kind = name.substr(0, colon), rest;
  if (colon != name.npos)
    rest = name.substr(colon + 1);
  std::shared_ptr<const Target> target;
  bool isComplete = colon == name.npos || !rest.empty();
  if (kind == "cpu" && isComplete)
    target = makeCpu(name, rest);
  if (kind == "cuda" && isComplete) {
    SINTER_TRY_ASSIGN(target, makeCuda(name, rest));
  }
  if (kind == "vulkan" && isComplete)
    target = makeVulkan(name, rest);
  if (!target)
    return makeError(
        ErrorKind::unsupported,
        "target " + std::string(name) +
            " is unknown; choose one of cpu, cpu:x86-64-v3, "
            "cpu:x86-64-v4, cpu:scalar, cpu:aarch64, or one with features: "
            "cpu:x86-64-v4+avx512bf16; or cuda:sm_80, cuda:sm_90, cuda:sm_100, "
            "cuda:sm_103, of a card with other numbers "
            "cuda:sm_90{multiprocessors=114}; or vulkan, vulkan:lavapipe, "
            "vulkan:h200, vulkan:minimal13, or one with features: "
            "vulkan:subgroup32+shared32+i64");
  return target;
}

} // namespace sinter::compiler
