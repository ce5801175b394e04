/// MatrixCopy: operands of a contraction copied into the layout that its
/// register tiles read.
#pragma once

#include "compiler/lower/contraction/MatrixAccess.h"

namespace sinter::compiler {

/// A range of k.
struct DepthRange {
  Value begin, end;
};

class MatrixCopier {
public:
  MatrixCopier(const MatrixAccess &access, const TileShape &tile)
      : access(access), emission(access.emission), tile(tile) {}

  /// Copies the panel that starts at `column`: row k of `range` to
  /// to[place + (k - begin) * tile.columns()]. Of its columns `valid` exist,
  /// all when it is null; what stands for the others is unspecified.
  void copyRight(Value column, Value valid, const DepthRange &range, Value to,
                 Value place) const;
  /// Where a panel starts in a copy of all of the right operand.
  Value placeOfPanel(Value batchNumber, Value column) const;

  /// Copies rows [first, end), and the last row again up to a whole tile.
  void copyLeft(Value first, Value end, const DepthRange &range,
                Value to) const;
  /// Where an element of a copied left block stands; `row` starts a tile.
  Value placeOfLeft(Value row, unsigned r, Value k) const;
  int64_t leftElements() const;
  /// Rows k, k + 1, ... of the right operand, a vector each of the columns from
  /// `column` on, as many as there are lanes; loaded along k.
  llvm::SmallVector<Value> linesAlongDepth(Value column, bool mayPassEnd,
                                           Value k) const;
  /// The end of the whole steps of a depth range.
  Value endOfWhole(const DepthRange &range, int64_t step) const;

private:
  void copyRightAlongColumns(Value column, Value valid, const DepthRange &range,
                             Value to, Value place) const;
  void copyRightInSquares(Value column, Value valid, const DepthRange &range,
                          Value to, Value place) const;
  void copyRightAlongDepth(Value column, Value valid, const DepthRange &range,
                           Value to, Value place) const;
  void copyLeftAlongDepth(Value first, Value end, const DepthRange &range,
                          Value to) const;
  /// A row of the left copy, run by run: within one nothing is divided.
  void copyLeftRuns(Value row, const DepthRange &range, Value to,
                    Value line) const;
  void copyLeftAlongRows(Value first, Value end, const DepthRange &range,
                         Value to) const;
  /// Calls `emit` for the whole vectors of a depth range, then for the rest
  /// with a mask.
  void
  eachVectorOfDepth(const DepthRange &range,
                    llvm::function_ref<void(Value k, Value mask)> emit) const;
  Coord rowAt(Value row) const;
  Coord columnAt(Value column, bool mayPassEnd) const;
  Value quadsAlongDepth(Value column, bool mayPassEnd, Value k) const;

  const MatrixAccess &access;
  Emission &emission;
  const TileShape &tile;
};

/// Elements of a copy of all of the right operand.
mlir::AffineExpr copiedRightElements(ir::ContractionOpInterface op,
                                     const TileShape &tile);

} // namespace sinter::compiler
