/// What reductions would read across memory, sector by sector.
#pragma once

#include "compiler/fuse/FormKernels.h"

#include "llvm/ADT/DenseSet.h"

#include <vector>

namespace sinter::compiler {

/// Lanes of a reduction lie along the last axis of what it reads. A transpose
/// on the way to memory has them read far apart: each element brings a whole
/// sector, and most of it is not asked for before it is gone. Where that takes
/// longer than to turn the tensor first, in squares, the transpose is stored.
/// Elementwise kernels turn what they read themselves. Before any group is
/// formed; what is pointwise is taken to be computed where it is reduced.
class ScatteredStorer {
public:
  ScatteredStorer(ClassifiedOps &ops, const FuseOptions &options,
                  std::vector<FusionDecision> &decisions)
      : ops(ops), options(options), decisions(decisions) {}

  /// Whether something behind the op was stored.
  bool consider(unsigned index);

private:
  /// Lanes of the reduction read `value` along `dim`. `turned` is the first
  /// view from the reduction on that has them go along another axis than the
  /// last, or null.
  void visit(mlir::Value value, unsigned dim, mlir::Operation *turned);
  void visitBehind(mlir::Operation *view, unsigned dim,
                   mlir::Operation *turned);
  void weigh(mlir::Value read, unsigned dim, mlir::Operation *turned);

  ClassifiedOps &ops;
  const FuseOptions &options;
  std::vector<FusionDecision> &decisions;
  mlir::Operation *reduction = nullptr;
  llvm::DenseSet<std::pair<mlir::Value, unsigned>> seen;
  bool changed = false;
};

} // namespace sinter::compiler
