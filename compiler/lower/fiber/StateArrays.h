/// StateArrays: states of a combiner in workspaces of a kernel.
#pragma once

#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/kernel/KernelWriter.h"

namespace sinter::compiler {

/// One workspace for each value of a state.
class StateArrays {
public:
  using Values = Emission::Values;

  /// Announces workspaces of so many states.
  StateArrays(KernelWriter &writer, const Combiner &combiner,
              mlir::AffineExpr elements);

  /// States of neighbours, or of one place.
  Values load(Emission &emission, const Coord &place, const Lanes &lanes) const;
  void store(Emission &emission, const Values &states, const Coord &place,
             const Lanes &lanes) const;

private:
  llvm::SmallVector<mlir::Type> types;
  llvm::SmallVector<unsigned> buffers;
};

} // namespace sinter::compiler
