/// The space of reductions whose operand's last axis stays: what the skeletons
/// of such kernels share.
#pragma once

#include "compiler/lower/Combiner.h"
#include "dialects/program/Program.h"

namespace sinter::compiler {

/// The results are rows of columns: `lead` rows of `width` columns, each made
/// of `extent` elements.
struct ColumnSpace {
  /// Where columns of a row of results lie.
  struct Place {
    mlir::Value lead;       ///< number of the row of results
    mlir::Value first, end; ///< columns
  };

  explicit ColumnSpace(program::KernelOp kernel);

  /// Whether the kernel is one of such reductions and of what is done to their
  /// results in place.
  bool isValid() const { return valid; }
  bool isReduced(unsigned dim) const {
    return llvm::is_contained(axes, int64_t(dim));
  }
  /// The dims before the columns that are not reduced.
  Shape keptDims() const;
  /// Lanes along the columns.
  unsigned lanesOf(const Target &target) const;
  /// Of element number `row` of the results in columns from `column` on.
  Index operandIndex(Emission &emission, mlir::Operation *op,
                     const Place &place, mlir::Value row, mlir::Value column,
                     const Lanes &lanes) const;
  Index resultIndex(Emission &emission, mlir::Value output, const Place &place,
                    mlir::Value column, const Lanes &lanes) const;
  /// The number of an element, for combiners that ask for it.
  static mlir::Value positionAt(Emission &emission, const Combiner &combiner,
                                mlir::Value row, const Lanes &lanes);
  /// Makes a reduction's result known, here and no further out.
  void provide(Emission &emission, mlir::Value result, const Place &place,
               mlir::Value column, const Lanes &lanes, mlir::Value value) const;

  program::KernelOp kernel;
  mlir::MLIRContext *context;
  llvm::SmallVector<mlir::Operation *, 2> reductions;
  llvm::SmallVector<int64_t> axes;
  Shape shape; ///< of what is reduced
  unsigned tailRank = 1;
  mlir::AffineExpr lead, width, extent, results;

private:
  bool findReductions();
  void findSpace();

  bool valid = false;
};

} // namespace sinter::compiler
