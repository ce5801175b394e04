/// The pass that makes modules of kernels.
#include "compiler/Passes.h"
#include "compiler/lower/kernel/EmitKernel.h"
#include "compiler/target/LoweringPasses.h"
#include "compiler/target/TargetAttr.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_EMITLOOPS
#include "sinter/generated/Passes.h.inc"

static LogicalResult replaceKernel(program::KernelOp kernel,
                                   program::TargetAttr name,
                                   const Target &target,
                                   NumericsMode numerics) {
  FailureOr<EmittedLoops> emitted = emitLoops(kernel, target, numerics);
  if (failed(emitted))
    return failure();
  ModuleOp loops = emitted->module.release();
  loops.setSymName(kernel.getSymName());
  loops->setAttr(program::ProgramDialect::targetName, name);
  OpBuilder(kernel).insert(loops);
  kernel.erase();
  return success();
}

namespace {

struct EmitLoopsPass : impl::EmitLoopsBase<EmitLoopsPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerLoweringDialects(registry);
  }

  void runOnOperation() override {
    if (failed(emitAll(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult emitAll(ModuleOp module) const {
    program::TargetAttr name = program::targetOf(module);
    std::shared_ptr<const Target> target = targetFor(module);
    FailureOr<NumericsMode> mode =
        numericsNamed(module, getArgument(), numerics);
    if (!target || failed(mode))
      return failure();
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<program::KernelOp>()))
      if (failed(replaceKernel(kernel, name, *target, *mode)))
        return failure();
    return success();
  }
};

} // namespace

} // namespace sinter::compiler
