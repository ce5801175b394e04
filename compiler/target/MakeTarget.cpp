/// Targets by name.
#include "compiler/target/cpu/CpuTarget.h"
#include "compiler/target/cuda/CudaTarget.h"
#include "compiler/target/vulkan/VulkanTarget.h"

using namespace mlir;

namespace sinter::compiler {

FailureOr<TargetCode> Target::compileGiven(Operation *op, StringRef,
                                           ArrayRef<unsigned>, bool) const {
  return op->emitOpError("is a kernel for GPUs, which target '")
         << StringRef(name()) << "' does not run";
}

static std::shared_ptr<const Target> makeCpu(std::string_view name,
                                             std::string_view level) {
  auto features = cpuFeatures(level);
  if (!features)
    return nullptr;
  return std::make_shared<CpuTarget>(std::string(name), std::move(*features));
}

static std::shared_ptr<const Target> makeCuda(std::string_view name,
                                              std::string_view architecture) {
  if (architecture.empty())
    architecture = oldestArchitecture;
  bool isKnown = architecture == oldestArchitecture || architecture == "sm_90";
  if (!isKnown)
    return nullptr;
  return std::make_shared<CudaTarget>(std::string(name),
                                      std::string(architecture));
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
  if (kind == "cuda" && isComplete)
    target = makeCuda(name, rest);
  if (kind == "vulkan" && isComplete)
    target = makeVulkan(name, rest);
  if (!target)
    return makeError(
        ErrorKind::unsupported,
        "target " + std::string(name) +
            " is unknown; choose one of cpu, cpu:x86-64-v3, "
            "cpu:x86-64-v4, cpu:scalar, cpu:aarch64, or one with features: "
            "cpu:x86-64-v4+avx512bf16; or cuda:sm_80, cuda:sm_90; or vulkan, "
            "vulkan:lavapipe, vulkan:h200, vulkan:minimal13, or one with "
            "features: "
            "vulkan:subgroup32+shared32+i64");
  return target;
}

} // namespace sinter::compiler
