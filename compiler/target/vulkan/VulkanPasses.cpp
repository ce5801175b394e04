/// Vectors and types that a device does not have.
#include "compiler/Passes.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/vulkan/MissingTypes.h"
#include "compiler/target/vulkan/SplitVectors.h"
#include "compiler/target/vulkan/VulkanTarget.h"
#include "compiler/target/vulkan/WideIntegers.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_SPLITVECTORS
#define GEN_PASS_DEF_FITTYPES
#include "sinter/generated/Passes.h.inc"

// Where a type stands that the device has not, a diagnostic that names it.
static LogicalResult checkTypes(func::FuncOp function, StringRef kernel,
                                const VulkanProfile &profile) {
  const char *missing = nullptr;
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      if (auto memory = dyn_cast<MemRefType>(type))
        type = memory.getElementType();
      if (!missing)
        missing = missingFor(getElementTypeOrSelf(type), profile);
    }
    if (isa<memref::AtomicRMWOp>(op) && !profile.hasAtomic64)
      missing = "index checks (shaderBufferInt64Atomics)";
    return missing ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (missing)
    return function.emitError("kernel ")
           << kernel << " needs " << missing
           << ", which the device's profile lacks";
  return success();
}

namespace {

struct SplitVectorsPass : TargetPass<impl::SplitVectorsBase<SplitVectorsPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp module, const Target &target) override {
    const VulkanProfile *profile = profileOf(target);
    if (!profile)
      return success();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(splitVectors(function, profile->hasInt64 ? 64 : 32)))
        return failure();
    return success();
  }
};

// Functions that a kernel calls are as kernels are.
struct FitTypesPass : TargetPass<impl::FitTypesBase<FitTypesPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp module, const Target &target) override {
    const VulkanProfile *profile = profileOf(target);
    if (!profile)
      return success();
    if (profile->hasInt64)
      keepKernel();
    StringRef kernel;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (!function.isPrivate())
        kernel = function.getName();
      if (failed(checkTypes(function, kernel, *profile)) ||
          (!profile->hasInt64 && failed(emulateWideIntegers(function))))
        return failure();
    }
    return success();
  }
};

} // namespace

const VulkanProfile *profileOf(const Target &target) {
  if (!target.name().starts_with("vulkan"))
    return nullptr;
  return &static_cast<const VulkanTarget &>(target).deviceProfile();
}

std::unique_ptr<Pass> createSplitVectors(const Target &target) {
  return std::make_unique<SplitVectorsPass>(target);
}

std::unique_ptr<Pass> createFitTypes(const Target &target) {
  return std::make_unique<FitTypesPass>(target);
}

} // namespace sinter::compiler
