/// The pass that writes schedules.
#include "compiler/Passes.h"
#include "compiler/lower/Schedule.h"
#include "compiler/target/TargetAttr.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_CHOOSESCHEDULES
#include "sinter/generated/Passes.h.inc"

// Of what cannot be emitted the emitter will say why.
static void choose(program::KernelOp kernel, const Target &target,
                   NumericsMode numerics) {
  if (!canEmit(kernel))
    return;
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  KernelWriter writer(kernel, target, numerics, *module);
  Way way = candidates(writer).front();
  program::ScheduleAttr given = kernel.getScheduleAttr();
  kernel.setScheduleAttr(program::ScheduleAttr::get(
      kernel.getContext(), way.skeleton, way.owner, way.staging, /*split=*/0,
      given ? given.getTile() : StringRef(),
      given ? given.getKeptInputs() : DenseI64ArrayAttr()));
  bool mayCut = way.skeleton == program::Skeleton::contraction ||
                way.owner == program::Owner::grid;
  if (!mayCut)
    return;
  FailureOr<KernelCode> code = announceKernel(kernel, target, numerics);
  if (succeeded(code) && code->split)
    kernel.setScheduleAttr(kernel.getScheduleAttr().withSplit(code->split));
}

namespace {

struct ChooseSchedulesPass : impl::ChooseSchedulesBase<ChooseSchedulesPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::shared_ptr<const Target> target = targetFor(module);
    if (!target)
      return signalPassFailure();
    for (auto kernel : module.getOps<program::KernelOp>())
      choose(kernel, *target,
             exact ? NumericsMode::exact : NumericsMode::standard);
  }
};

} // namespace

} // namespace sinter::compiler
