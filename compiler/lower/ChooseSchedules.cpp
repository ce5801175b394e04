/// The pass that writes schedules.
#include "compiler/Passes.h"
#include "compiler/lower/kernel/Schedule.h"
#include "compiler/target/TargetAttr.h"

using namespace mlir;

namespace sinter::compiler {

#define GEN_PASS_DEF_CHOOSESCHEDULES
#include "sinter/generated/Passes.h.inc"

// Of what cannot be emitted the emitter will say why.
static LogicalResult choose(program::KernelOp kernel, const Target &target,
                            NumericsMode numerics) {
  if (!canEmit(kernel))
    return success();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  KernelWriter writer(kernel, target, numerics, *module);
  Way way = candidates(writer).front();
  program::ScheduleAttr given = kernel.getScheduleAttr();
  StringRef tile = scheduledTile(kernel);
  kernel.setScheduleAttr(program::ScheduleAttr::get(
      kernel.getContext(), way.skeleton, way.owner, way.staging, /*split=*/0,
      tile, /*variants=*/{},
      given ? given.getKeptInputs() : DenseI64ArrayAttr()));
  bool isProduct = way.skeleton == program::Skeleton::contraction;
  if (!isProduct && way.owner != program::Owner::grid && tile.empty())
    return success();
  FailureOr<AnnouncedKernel> announced =
      announceKernel(kernel, target, numerics);
  if (failed(announced))
    return failure();
  program::ScheduleAttr schedule = kernel.getScheduleAttr();
  ArrayRef<program::VariantAttr> variants = announced->variants;
  if (variants.size() == 1)
    schedule = schedule.withTile(variants.front().getTile());
  else if (!variants.empty())
    schedule = schedule.withVariants(variants);
  kernel.setScheduleAttr(schedule.withSplit(announced->code.split));
  return success();
}

namespace {

struct ChooseSchedulesPass : impl::ChooseSchedulesBase<ChooseSchedulesPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::shared_ptr<const Target> target = targetFor(module);
    FailureOr<NumericsMode> mode =
        numericsNamed(module, getArgument(), numerics);
    if (!target || failed(mode))
      return signalPassFailure();
    for (auto kernel : module.getOps<program::KernelOp>())
      if (failed(choose(kernel, *target, *mode)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace sinter::compiler
