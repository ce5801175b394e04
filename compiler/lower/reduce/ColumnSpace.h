/// The space of reductions whose operand's last axis stays: what the skeletons
/// of such kernels share.
#pragma once

#include "compiler/lower/element/Combiner.h"
#include "compiler/lower/kernel/Sinks.h"
#include "dialects/program/Program.h"

#include "llvm/ADT/DenseSet.h"

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
  /// The same, but for outputs that are something else.
  bool hasReductions() const { return found; }
  /// Whether an output has an element for each result.
  bool isResult(mlir::Value output) const;
  /// The outputs, which `firstBuffer` is the first buffer of: values in the
  /// order of the results, and the views that put them elsewhere.
  llvm::SmallVector<Sink> sinks(unsigned firstBuffer) const;
  /// Whether there are such views.
  bool isTurned() const { return !turns.empty(); }
  bool isReduced(unsigned dim) const {
    return llvm::is_contained(axes, int64_t(dim));
  }
  /// The dims before the columns that are not reduced.
  Shape keptDims() const;
  /// Lanes along the columns.
  unsigned lanesOf(const Target &target) const;
  /// What the number of columns is a multiple of, in blocks of `block` columns
  /// of which the last may be shorter; 1 if the number is not known.
  int64_t divisorOf(int64_t block) const;
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

  /// Views of results which are only stored: transposes, and what follows.
  llvm::DenseSet<mlir::Operation *> turns;

  bool found = false, valid = false;
};

/// Runs `body` for columns [first, end), a multiple of `divisor`, so many lanes
/// at a time; the last under a mask where they may be fewer.
void eachColumn(
    Emission &emission, mlir::Value first, mlir::Value end, unsigned lanes,
    int64_t divisor,
    llvm::function_ref<void(mlir::Value column, const Lanes &)> body);

/// A combiner's state at `at` of arrays in memory, one for each of its values.
Emission::Values loadStates(Emission &emission, const Combiner &combiner,
                            llvm::ArrayRef<mlir::Value> arrays, mlir::Value at,
                            const Lanes &lanes);
void storeStates(Emission &emission, const Combiner &combiner,
                 llvm::ArrayRef<mlir::Value> arrays, mlir::Value at,
                 const Lanes &lanes, const Emission::Values &state);

} // namespace sinter::compiler
