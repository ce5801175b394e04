/// LoweringPasses: from a kernel's loops to the form that its target
/// translates, pass by pass. `Target::buildLowering` says which ones run.
#pragma once

#include "compiler/target/Target.h"

#include "mlir/Pass/Pass.h"

namespace sinter::compiler {

/// On a function of a kernel's lowered form, an integer: the elements, or
/// vectors of them, that were written out in it. Those that the emitter knew
/// already do not count. For who looks at that form; `lower-abi` drops it.
inline constexpr const char *elementsAttr = "sinter.elements";
/// On a function without a body: the code of a user's kernel, which no pass
/// lowers.
inline constexpr const char *givenAttr = "sinter.given";

/// The dialects that kernels go through, and what translates them: for contexts
/// that are not a kernel's own, whose dialects `beginKernel` loads.
void registerLoweringDialects(mlir::DialectRegistry &registry);

/// Runs `lower` on `module`, a kernel's, where a pass has its target. Elsewhere
/// the module says which one it is, and a program's has the modules of its
/// kernels. Those of users' kernels are left out.
llvm::LogicalResult
forKernels(mlir::ModuleOp module, const Target *own,
           llvm::function_ref<llvm::LogicalResult(mlir::ModuleOp kernel,
                                                  const Target &target)>
               lower);

/// Passes for kernels of a target, which outlives them. Those without one, as
/// texts name them, find it in the module.
std::unique_ptr<mlir::Pass> createExpandMath(const Target &target);
std::unique_ptr<mlir::Pass> createClusterLoads(const Target &target);
std::unique_ptr<mlir::Pass> createDistributeLanes(const Target &target);
std::unique_ptr<mlir::Pass> createCallFarTrig(const Target &target);
std::unique_ptr<mlir::Pass> createLowerAbi(const Target &target);

/// A pass over a kernel's module that asks the target: `lower` is what it does.
/// `PassBase` is made from Passes.td.
template <typename PassBase> class TargetPass : public PassBase {
public:
  TargetPass() = default;
  explicit TargetPass(const Target &target) : own(&target) {}

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    if (!own)
      registerLoweringDialects(registry);
  }

  void runOnOperation() override {
    auto lowerKernel = [this](mlir::ModuleOp kernel, const Target &target) {
      return lower(kernel, target);
    };
    if (failed(forKernels(this->getOperation(), own, lowerKernel)))
      this->signalPassFailure();
  }

protected:
  virtual llvm::LogicalResult lower(mlir::ModuleOp kernel,
                                    const Target &target) = 0;

  /// Says that a kernel is as it was, so that it is not verified again.
  void keepKernel() {
    if (own)
      this->markAllAnalysesPreserved();
  }

private:
  const Target *own = nullptr;
};

} // namespace sinter::compiler
