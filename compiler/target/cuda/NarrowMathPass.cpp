/// The pass of what PTX has for 16-bit floats and NaN.
#include "compiler/Passes.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/cuda/MachineNan.h"
#include "compiler/target/cuda/NarrowMath.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_NARROWMATH
#include "sinter/generated/Passes.h.inc"

namespace {

struct NarrowMathPass : TargetPass<impl::NarrowMathBase<NarrowMathPass>> {
  using TargetPass::TargetPass;
  LogicalResult lower(ModuleOp kernel, const Target &target) override {
    if (!target.name().starts_with("cuda"))
      return success();
    for (auto function : kernel.getOps<func::FuncOp>()) {
      narrowMath(function);
      canonicalExtrema(function);
    }
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createNarrowMath(const Target &target) {
  return std::make_unique<NarrowMathPass>(target);
}

} // namespace sinter::compiler
