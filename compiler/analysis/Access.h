/// How a tensor inside a kernel lies in memory, without emitting anything.
#pragma once

#include "compiler/analysis/Shapes.h"
#include "dialects/sinter/ViewMap.h"

#include <cstdint>
#include <optional>

namespace sinter::compiler {

using ir::offsetsAttr;

/// Whether the expression is the number 0.
bool isZero(mlir::AffineExpr expr);

/// Whether elements that differ in `dim` alone are neighbours in memory, or the
/// same, in every buffer that `tensor` reads.
bool runsAlong(mlir::Value tensor, unsigned dim);

/// Where a reshape made `dim` of several axes, the length of the last of them:
/// a run along which indices need no division. 0 for others.
int64_t innerRun(mlir::Value tensor, unsigned dim);

/// From each multiple of the result on, so many elements along `dim` are
/// neighbours, or the same, in every buffer that `tensor` reads; 0 where all of
/// them are the same.
int64_t neighboursAlong(mlir::Value tensor, unsigned dim);

/// Whether elements along `dim` are taken from one position of windows after
/// another.
bool runsOverWindows(mlir::Value tensor, unsigned dim);

/// Whether the slowest of the axes that `dim` is made of is the outermost one
/// of the buffers behind `tensor`.
bool beginsOutermost(mlir::Value tensor, unsigned dim);

/// Coordinates [low, high) along a dim.
struct Interior {
  int64_t low = 0, high = 0;

  static Interior everything() { return {0, INT64_MAX}; }
  bool isAll() const { return low == 0 && high == INT64_MAX; }
  Interior both(const Interior &other) const;
};

/// Where along `dim` reading `tensor` needs no mask, as far as the dim alone
/// decides it.
Interior interiorOf(mlir::Value tensor, unsigned dim);

/// A plain view of an input: the element at coordinates c is the input's
/// element number offset + sum(c[d] * strides[d]).
struct StridedView {
  unsigned input = 0; ///< its number among the kernel's
  mlir::AffineExpr offset;
  llvm::SmallVector<mlir::AffineExpr> strides;

  /// Whether elements along `dim` are neighbours.
  bool runs(unsigned dim) const;
  /// A number that divides those of all elements that are first along `dim`:
  /// there vectors of so many begin at multiples of their size.
  int64_t divisibleBy(unsigned dim) const;
};

/// The input behind `tensor`, where nothing but such a view lies between.
/// `leaf`, if given, stands in a buffer of its own: no number is known of it.
/// It is dense, or lines along its last axis begin at multiples of `pitch`.
std::optional<StridedView> stridedView(mlir::Value tensor,
                                       mlir::Value leaf = {},
                                       mlir::AffineExpr pitch = {});

/// What every element of an integer tensor was brought to its type from: an
/// integer of 8 bits, or one of 16 with a sign. Null where there is none.
mlir::IntegerType narrowPart(mlir::Value tensor);

/// A tensor of integers that is another one less one number.
struct LessNumber {
  mlir::Value codes;
  int64_t number;
};
std::optional<LessNumber> lessNumber(mlir::Value tensor);

/// The number of the kernel's input that alone decides `tensor`.
std::optional<unsigned> onlyInput(mlir::Value tensor);

/// Whether `tensor` is computed: more than a view of a buffer.
bool isComputed(mlir::Value tensor);

} // namespace sinter::compiler
