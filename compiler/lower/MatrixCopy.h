/// MatrixCopy: operands of a contraction copied into the layout that its
/// register tiles read.
#pragma once

#include "compiler/lower/Emission.h"
#include "compiler/lower/TileShape.h"

namespace sinter::compiler {

using mlir::Value;

/// A range of k.
struct DepthRange {
  Value begin, end;
};

/// Elements of a matmul's operands by row and column in one of its batches.
struct MatrixAccess {
  Emission &emission;
  Value lhs, rhs, result;
  llvm::SmallVector<Coord> batch;
  mlir::Type element, accumulator;

  MatrixAccess(Emission &emission, ir::MatmulOp op,
               llvm::SmallVector<Coord> batch);

  Index indexOf(const Coord &row, const Coord &column) const;
  /// Elements as the accumulator's type; a vector of lanes.count.
  Value leftAt(const Coord &row, const Coord &k, const Lanes &lanes) const;
  Value rightAt(const Coord &k, const Coord &column, const Lanes &lanes) const;
  Value load(Value buffer, Value place, unsigned lanes) const;
  void store(Value value, Value buffer, Value place) const;
  void storeOne(Value value, Value buffer, Value place) const;
  /// The masks of a panel of `vectors` of which `valid` columns exist; null
  /// ones where all lanes do, as for a null `valid`.
  llvm::SmallVector<Value> masksOf(unsigned vectors, unsigned lanes,
                                   Value valid) const;
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

  const MatrixAccess &access;
  Emission &emission;
  const TileShape &tile;
};

/// Elements of a copy of all of the right operand.
mlir::AffineExpr copiedRightElements(ir::MatmulOp op, const TileShape &tile);

/// Rows of a square of vectors become its columns.
llvm::SmallVector<Value> transposeVectors(Emission &emission,
                                          llvm::SmallVector<Value> rows);

} // namespace sinter::compiler
