/// The pass that writes composites in primitives.
#include "compiler/Passes.h"
#include "dialects/sinter/ExpandComposites.h"

namespace sinter::compiler {

#define GEN_PASS_DEF_EXPANDCOMPOSITES
#include "sinter/generated/Passes.h.inc"

namespace {

struct ExpandCompositesPass : impl::ExpandCompositesBase<ExpandCompositesPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(ir::expandComposites(getOperation(), keepImages)))
      signalPassFailure();
  }
};

} // namespace
} // namespace sinter::compiler
