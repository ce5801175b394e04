/// The pass that says which workspaces kernels have.
#include "compiler/Passes.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/target/TargetAttr.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_PLANWORKSPACES
#include "sinter/generated/Passes.h.inc"

static DenseI64ArrayAttr preparedOf(const KernelCode &code,
                                    MLIRContext *context) {
  SmallVector<int64_t> inputs(code.workspaces.size(), -1);
  for (const PhaseCode &phase : code.phases)
    if (phase.prepares >= 0)
      inputs[phase.workspace] = phase.prepares;
  return DenseI64ArrayAttr::get(context, inputs);
}

// Of what cannot be emitted the emitter will say why. What a text says is not
// believed.
static LogicalResult planWorkspaces(program::KernelOp kernel,
                                    const Target &target,
                                    NumericsMode numerics) {
  kernel.removeWorkspacesAttr();
  kernel.removePreparedAttr();
  if (!canEmit(kernel))
    return success();
  FailureOr<AnnouncedKernel> announced =
      announceKernel(kernel, target, numerics);
  if (failed(announced))
    return failure();
  const KernelCode &code = announced->code;
  if (code.workspaces.empty())
    return success();
  MLIRContext *context = kernel.getContext();
  kernel.setWorkspacesAttr(AffineMapAttr::get(workspacesOf(code, context)));
  kernel.setPreparedAttr(preparedOf(code, context));
  return success();
}

namespace {

struct PlanWorkspacesPass : impl::PlanWorkspacesBase<PlanWorkspacesPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::shared_ptr<const Target> target = targetFor(module);
    FailureOr<NumericsMode> mode =
        numericsNamed(module, getArgument(), numerics);
    if (!target || failed(mode))
      return signalPassFailure();
    for (auto kernel : module.getOps<program::KernelOp>())
      if (failed(planWorkspaces(kernel, *target, *mode)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace sinter::compiler
