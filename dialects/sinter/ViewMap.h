/// ViewMap: which element of which operand each element of a view is. What
/// passes ask of a view is computed from this, so that they name no view.
#pragma once

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace sinter::ir {

/// On a view of a kernel that begins somewhere in another tensor: a map whose
/// results, over the kernel's symbols, are added to where it begins. Kernels
/// that differ in these alone are one, and launches say where.
inline constexpr const char *offsetsAttr = "sinter.offsets";

/// One coordinate of an operand's element, as it follows from those of the
/// result's: (start + sum of factor * coordinate) / spacing.
struct AxisMap {
  /// What a coordinate of the result adds.
  struct Term {
    unsigned dim;
    int64_t factor;
  };

  /// The operand's along the axis.
  mlir::AffineExpr extent;
  /// None where the result repeats the operand's one element. Of two, as
  /// windows have, the first is that of the windows' positions.
  llvm::SmallVector<Term, 2> terms;
  /// Over the kernel's symbols.
  mlir::AffineExpr start;
  /// The operand's elements stand so far apart.
  int64_t spacing = 1;
  /// The least that the sum can be, as far as it is known.
  int64_t least = 0;
  /// How often the view's `start` is added, too: 1, 0 or -1.
  int moves = 0;
  /// Whether some coordinates of the result lead to no element of the operand:
  /// to a coordinate out of bounds, or between spaced ones.
  bool isMasked = false;

  /// Whether the coordinate is the one of the result along `dim`.
  bool isAlong(unsigned dim) const;
  /// Whether nothing but coordinates of the result decides this one.
  bool isFixed() const { return !isMasked && moves == 0; }
};

/// The elements of a view that are one operand's.
struct ViewPart {
  mlir::Value operand;
  llvm::SmallVector<AxisMap, 4> axes; ///< the operand's

  unsigned rank() const { return axes.size(); }
  /// The axis whose coordinate depends on the one along a dim of the result,
  /// and the number of the term; none where elements along the dim are alike.
  struct Place {
    unsigned axis, term;
  };
  std::optional<Place> along(unsigned dim) const;
};

/// One of the axes that windows slide along.
struct ViewWindow {
  unsigned axis;    ///< of what the windows stand on, and of their positions
  unsigned element; ///< the dim of the windows' elements
  int64_t size, stride, dilation;
};

struct ViewMap {
  /// Extents of the result.
  llvm::SmallVector<mlir::AffineExpr> shape;
  /// Only a view that joins tensors has several.
  llvm::SmallVector<ViewPart, 1> parts;
  /// Whether element n of the result is element n of the one operand, in
  /// row-major order. The part's axes say nothing then.
  bool keepsLinearOrder = false;
  /// What stands where no part has an element; null where there is always one.
  mlir::TypedAttr fill;
  /// A number of the program, of rank 0, that moves axes; null where none does.
  mlir::Value start;

  unsigned rank() const { return shape.size(); }
  const ViewPart &part() const { return parts.front(); }
  /// Whether an axis is passed on as it is, as that of the result along `dim`.
  bool passes(const AxisMap &axis, unsigned dim) const;
  /// Whether each of an axis's coordinates is some element's of the result.
  bool hasAll(const AxisMap &axis) const;
  /// Whether the last `count` dims of the result are those of the operand.
  bool passesTail(const ViewPart &part, unsigned count) const;
  /// Whether all elements that differ in the last `count` dims are alike.
  bool repeatsTail(unsigned count) const;
  /// Whether each axis of the one operand leads to the dim of its own number,
  /// wherever it begins and ends there.
  bool keepsAxes() const;

  /// Whether all elements are those of the one operand, and where each is taken
  /// from is known before the program runs.
  bool isFixed() const;
  /// Whether such a view only steps forward: of an operand with strides, the
  /// result has strides.
  bool isStrided() const;
  /// The axes of the operand in the order that the result has them; none for
  /// more than an exchange of axes.
  std::optional<llvm::SmallVector<int64_t>> permutation() const;
  /// Whether elements are repeated, and nothing else.
  bool repeats() const;
  /// Whether the result has some of the elements, from a start on in steps.
  bool selects() const;
  /// Whether the operand stands at a fixed place among equal elements.
  bool pads() const;
  /// Whether tensors stand one after the other along an axis; which one.
  std::optional<unsigned> joins() const;
  /// The axes along which windows are taken from an image, or are put back
  /// (then there is a fill), in the order of the windows' dims.
  llvm::SmallVector<ViewWindow, 2> windows() const;
  bool takesWindows() const;
  bool returnsWindows() const;
};

/// The map of a view; none for another op, or null.
std::optional<ViewMap> viewMapOf(mlir::Operation *op);
inline std::optional<ViewMap> viewMapOf(mlir::Value value) {
  return viewMapOf(value.getDefiningOp());
}

/// A tensor and the order that another one has its axes in.
struct Permuted {
  mlir::Value operand;
  llvm::SmallVector<int64_t> permutation;
};

/// What a value is a reshape, a repetition or a transpose of; null for another.
mlir::Value reshapedOperand(mlir::Value value);
mlir::Value repeatedOperand(mlir::Value value);
std::optional<Permuted> permutedOperand(mlir::Value value);
/// Whether the op, which may be null, makes such a value.
bool keepsLinearOrder(mlir::Operation *op);
bool repeatsElements(mlir::Operation *op);
bool permutesAxes(mlir::Operation *op);

} // namespace sinter::ir
