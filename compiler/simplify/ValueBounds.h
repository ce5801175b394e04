/// ValueBounds: what integers a tensor may hold, whatever a program is given.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace sinter::compiler {

/// Bounds of integers, derived from where they come from: positions along an
/// axis, constants, and ops on such. A scalar op's bounds are those of its
/// body, whose ops know theirs (`InferIntRangeInterface`). Elements that
/// nothing is known of may be all that their type holds.
class ValueBounds {
public:
  /// Of values of the program's function; its guards are known to hold.
  explicit ValueBounds(mlir::func::FuncOp function);

  /// Whether every element of `value`, of signed integers, is a position of an
  /// axis of that extent.
  bool areWithin(mlir::Value value, mlir::AffineExpr extent);

private:
  /// Of elements, as their type counts; signed ones are at most each of
  /// `atMost`, too, whose symbols stand for sizes.
  struct Bounds {
    mlir::ConstantIntRanges range;
    llvm::SmallVector<mlir::AffineExpr, 2> atMost;
  };
  using BoundsOf = llvm::DenseMap<mlir::Value, Bounds>;

  Bounds of(mlir::Value value, unsigned depth);
  Bounds compute(mlir::Operation *op, unsigned depth);
  Bounds ofPointwise(mlir::Operation *op, unsigned depth);
  Bounds ofSelection(mlir::Operation *op, unsigned depth);
  Bounds ofScalar(mlir::Operation &op, const BoundsOf &known) const;
  void addLimits(mlir::Operation &op, llvm::ArrayRef<Bounds> operands,
                 Bounds &bounds) const;
  Bounds ofFold(mlir::Operation *op, unsigned depth);
  /// From 0 up to less than the extent of an axis.
  Bounds positions(mlir::Type tensor, mlir::AffineExpr extent) const;
  Bounds anyOf(mlir::Type tensor) const;
  Bounds either(const Bounds &a, const Bounds &b) const;
  void addSums(const Bounds &a, const Bounds &b, Bounds &sum) const;
  bool isAtMost(const Bounds &bounds, mlir::AffineExpr limit) const;
  /// Whether an expression of sizes is never below 0.
  bool isNonNegative(mlir::AffineExpr expr) const;

  unsigned symbols;
  llvm::SmallVector<mlir::AffineExpr> nonNegative; ///< what guards say
  BoundsOf known;
  /// A value that is taken to be within a range for now, and bounds then.
  mlir::Value supposed;
  BoundsOf ifSupposed;
};

} // namespace sinter::compiler
