/// RowSpace: reductions along rows that blocks of threads work on, and where
/// their elements are.
#pragma once

#include "compiler/lower/reduce/BlockReducer.h"
#include "dialects/program/Program.h"

namespace sinter::compiler {

/// The rows are the last axes of what is reduced.
struct RowSpace {
  explicit RowSpace(program::KernelOp kernel)
      : kernel(kernel), context(kernel->getContext()) {}

  /// Whether the kernel is one of such reductions and of what may be done
  /// beside them (`joinsBlockRows`). Reductions of all other axes are taken,
  /// too, where rows are one axis.
  bool find();
  /// Whether a value has an element for each that is reduced.
  bool isFull(mlir::Value value) const;
  /// Whether a value has a number for each row.
  bool isNumber(mlir::Value value) const;
  bool storesFull();
  /// Inputs that are full.
  int64_t fullInputs();
  /// The index of `neighbours` in a row, or of a row's number where there is no
  /// column.
  Index indexOf(Emission &emission, mlir::Value tensor, mlir::Value row,
                mlir::Value column, int64_t neighbours) const;

  program::KernelOp kernel;
  mlir::MLIRContext *context;
  llvm::SmallVector<RowResult> reductions, columns;
  Shape shape; ///< of what is reduced
  unsigned tailRank = 1;
  mlir::AffineExpr rows;
  int64_t length = 0; ///< of a row; -1 where it is not known

private:
  bool add(mlir::Operation *op);
};

} // namespace sinter::compiler
