/// The passes that every target has.
#include "compiler/target/LoweringPasses.h"
#include "compiler/Passes.h"
#include "compiler/math/ExpandMath.h"
#include "compiler/math/ExpandTrig.h"
#include "compiler/target/TargetAttr.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_EXPANDMATH
#define GEN_PASS_DEF_CLUSTERLOADS
#define GEN_PASS_DEF_DISTRIBUTELANES
#define GEN_PASS_DEF_CALLFARTRIG
#define GEN_PASS_DEF_LOWERABI
#include "sinter/generated/Passes.h.inc"

void registerLoweringDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                  func::FuncDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  spirv::SPIRVDialect, ub::UBDialect, vector::VectorDialect>();
  // Emitters register these, too: later than a program's passes may.
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

// Lanes are no threads.
void Target::clusterLoads(func::FuncOp) const {}
LogicalResult Target::distributeLanes(func::FuncOp) const { return success(); }

static bool hasLoops(ModuleOp kernel) {
  return llvm::any_of(kernel.getOps<func::FuncOp>(), [](func::FuncOp function) {
    return !function.isDeclaration();
  });
}

LogicalResult
forKernels(ModuleOp module, const Target *own,
           llvm::function_ref<LogicalResult(ModuleOp, const Target &)> lower) {
  if (own)
    return lower(module, *own);
  auto lowerNamed = [&](ModuleOp kernel) -> LogicalResult {
    if (!hasLoops(kernel))
      return success();
    std::shared_ptr<const Target> target = targetFor(kernel);
    return failure(!target || failed(lower(kernel, *target)));
  };
  if (module.getSymName())
    return lowerNamed(module);
  for (auto kernel : module.getOps<ModuleOp>())
    if (failed(lowerNamed(kernel)))
      return failure();
  return success();
}

// Each function with a body.
static LogicalResult
forFunctions(ModuleOp kernel,
             llvm::function_ref<LogicalResult(func::FuncOp)> lower) {
  for (auto function : kernel.getOps<func::FuncOp>())
    if (!function.isDeclaration() && failed(lower(function)))
      return failure();
  return success();
}

namespace {

struct ExpandMathPass : TargetPass<impl::ExpandMathBase<ExpandMathPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    expandMath(kernel, target.mathFeatures(kernel));
    return success();
  }
};

struct ClusterLoadsPass : TargetPass<impl::ClusterLoadsBase<ClusterLoadsPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    return forFunctions(kernel, [&](func::FuncOp function) {
      target.clusterLoads(function);
      return success();
    });
  }
};

struct DistributeLanesPass
    : TargetPass<impl::DistributeLanesBase<DistributeLanesPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    return forFunctions(kernel, [&](func::FuncOp function) {
      return target.distributeLanes(function);
    });
  }
};

struct CallFarTrigPass : TargetPass<impl::CallFarTrigBase<CallFarTrigPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    if (!callFarTrig(kernel, target.farTrig()))
      keepKernel();
    return success();
  }
};

struct LowerAbiPass : TargetPass<impl::LowerAbiBase<LowerAbiPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    for (Operation &function : *kernel.getBody())
      function.removeAttr(elementsAttr);
    return target.lowerAbi(kernel, [&](OpPassManager &passes) {
      return runPipeline(passes, kernel);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createExpandMath(const Target &target) {
  return std::make_unique<ExpandMathPass>(target);
}

std::unique_ptr<Pass> createClusterLoads(const Target &target) {
  return std::make_unique<ClusterLoadsPass>(target);
}

std::unique_ptr<Pass> createDistributeLanes(const Target &target) {
  return std::make_unique<DistributeLanesPass>(target);
}

std::unique_ptr<Pass> createCallFarTrig(const Target &target) {
  return std::make_unique<CallFarTrigPass>(target);
}

std::unique_ptr<Pass> createLowerAbi(const Target &target) {
  return std::make_unique<LowerAbiPass>(target);
}

} // namespace sinter::compiler
