/// WarpgroupProduct: products of a warpgroup (PTX ISA, wgmma).
#pragma once

#include "compiler/target/cuda/Ptx.h"

#include <optional>

namespace sinter::compiler {

/// A matrix in shared memory: boxes of 64 elements of 16 bits, 128 bytes, along
/// one axis, swizzled as a map's copy writes them.
struct SharedOperand {
  bool alongDepth = false; ///< whether boxes' 64 lie along k
  int64_t boxBytes = 0;    ///< from a box to the next one
};

/// Parts of operands that are multiplied: bytes from the operands' addresses
/// on.
struct OperandParts {
  int64_t left = 0, right = 0;
};

/// Multiplies 64 rows by some columns, over some steps of k.
class WarpgroupProduct {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;

  static constexpr int64_t depthOfStep = 16;

  /// The left operand is in shared memory, or, without a layout, in words of
  /// registers: as fragments of sums, brought to 16 bits, lie. Of several
  /// `pairs` the products are added in their order.
  WarpgroupProduct(const Ptx &ptx, mlir::Type element, int64_t columns,
                   int64_t steps, std::optional<SharedOperand> left,
                   const SharedOperand &right,
                   llvm::ArrayRef<OperandParts> pairs = OperandParts())
      : ptx(ptx), element(element), columns(columns), steps(steps), left(left),
        right(right), pairs(pairs) {}

  /// Sums that a thread has of it.
  int64_t sums() const { return columns / 2; }
  /// Products of the operands at these addresses, or of these words, which are
  /// not known before `wait`.
  Values multiply(mlir::ValueRange leftOperand, Value rightOperand) const;
  /// The sums with them. Where `k` (i32) is 0, what the sums were does not
  /// count.
  Values multiply(mlir::ValueRange leftOperand, Value rightOperand, Value k,
                  mlir::ValueRange sums) const;
  /// Waits for all products but the last `pending` ones.
  void wait(unsigned pending) const;
  /// As that; gives the sums, which are known behind it.
  Values wait(unsigned pending, mlir::ValueRange sums) const;

private:
  std::string text(bool adds) const;
  Values run(mlir::ValueRange leftOperand, Value rightOperand, Value k,
             mlir::ValueRange sums) const;

  const Ptx &ptx;
  const mlir::Type element;
  const int64_t columns, steps;
  const std::optional<SharedOperand> left;
  const SharedOperand right;
  const llvm::SmallVector<OperandParts, 1> pairs;
};

} // namespace sinter::compiler
