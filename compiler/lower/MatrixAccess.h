/// MatrixAccess: elements of a contraction's operands, as its register tiles
/// take them.
#pragma once

#include "compiler/lower/Emission.h"
#include "compiler/lower/TileShape.h"

namespace sinter::compiler {

using mlir::Value;

/// Elements of a matmul's operands by row and column in one of its batches.
///
/// Where the tile takes pairs, an element is a word of two neighbours along k,
/// the first in its lower half, and k counts words.
class MatrixAccess {
public:
  MatrixAccess(Emission &emission, ir::MatmulOp op, const TileShape &tile,
               llvm::SmallVector<Coord> batch);

  Emission &emission;
  const Value lhs, rhs, result;
  const llvm::SmallVector<Coord> batch;
  const mlir::Type element, accumulator;
  const mlir::AffineExpr depth; ///< the end of k
  const bool inPairs;

  Index indexOf(const Coord &row, const Coord &column) const;
  /// Elements as the accumulator's type; a vector of lanes.count.
  Value leftAt(const Coord &row, const Coord &k, const Lanes &lanes) const;
  Value rightAt(const Coord &k, const Coord &column, const Lanes &lanes) const;
  /// a * b + sum; of pairs, both products.
  Value addProduct(Value a, Value b, Value sum) const;
  /// The last k before which both halves of a pair exist.
  Value endOfPairs(Value end) const;

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
  Value pairsAt(Value k, const Lanes &lanes, At at) const;
  Value pairsAlong(Value k, const Lanes &lanes, At at) const;
  bool isEven() const;
};

} // namespace sinter::compiler
