/// MatrixAccess: elements of a contraction's operands, as its register tiles
/// take them.
#pragma once

#include "compiler/lower/contraction/TileShape.h"
#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

using mlir::Value;

/// Elements of a contraction's operands by row and column in one of its
/// batches.
///
/// Where the tile takes words, an element is a word of neighbours along k, the
/// first in the lowest bits, and k counts words.
class MatrixAccess {
public:
  MatrixAccess(Emission &emission, ir::ContractionOpInterface op,
               const TileShape &tile, llvm::SmallVector<Coord> batch);

  Emission &emission;
  const Value lhs, rhs, result;
  const ir::ContractionMaps maps;
  const llvm::SmallVector<Coord> batch;
  const mlir::Type element, accumulator;
  const mlir::Type copied;       ///< what copies of the operands hold
  const mlir::AffineExpr length; ///< how many elements k counts
  const mlir::AffineExpr depth;  ///< the end of k
  const TileShape &tile;

  /// Into the result, and into the operands.
  Index indexOf(const Coord &row, const Coord &column) const;
  Index leftIndex(const Coord &row, const Coord &k) const;
  Index rightIndex(const Coord &k, const Coord &column) const;
  /// Elements as the accumulator's type, or words; a vector of lanes.count.
  Value leftAt(const Coord &row, const Coord &k, const Lanes &lanes) const;
  Value rightAt(const Coord &k, const Coord &column, const Lanes &lanes) const;
  /// Words of what the left copy has for zero.
  Value leftZeros(mlir::Type words) const;
  /// a * b + sum; of words, the products of all their parts.
  Value addProduct(Value a, Value b, Value sum) const;
  /// The last k up to `end` before which all parts of a word exist.
  Value endOfWords(Value end) const;

  /// A vector of what the buffer holds.
  Value load(Value buffer, Value place, unsigned lanes) const;
  void store(Value value, Value buffer, Value place) const;
  void storeOne(Value value, Value buffer, Value place) const;
  /// The masks of a panel of `vectors` of which `valid` columns exist; null
  /// ones where all lanes do, as for a null `valid`.
  llvm::SmallVector<Value> masksOf(unsigned vectors, unsigned lanes,
                                   Value valid) const;

private:
  /// Single elements at their own k.
  using At = llvm::function_ref<Value(const Coord &k, const Lanes &lanes)>;
  /// Elements at the values of k along `k`, as what a tile takes.
  Value read(const Coord &k, const Lanes &lanes, mlir::Type part, At at) const;
  Value wordsAt(Value k, const Lanes &lanes, mlir::Type part, At at) const;
  Value wordsAlong(Value k, const Lanes &lanes, mlir::Type part, At at) const;
  Value maskOfParts(const Lanes &lanes) const;
  Value addIntegerPairs(Value a, Value b, Value sum) const;
  bool isWhole() const;
};

} // namespace sinter::compiler
