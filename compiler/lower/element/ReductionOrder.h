/// The canonical order of reductions, and what shapes they have.
#pragma once

#include "compiler/lower/element/Combiner.h"

#include <functional>

namespace sinter::compiler {

/// A reduction's elements are taken in chunks of canonicalChunk, whose states
/// merge in order. In a chunk there are two orders, chosen by the axes alone:
///
/// - `lanes`, where the operand's last axis is reduced: lane l sums elements l,
///   l + 64, ...; the lanes merge as a binary tree (l with l + 32, then + 16,
///   ...). Neighbours in memory are summed side by side.
/// - `blocks`, where the last axis stays: 64 elements in a row are summed one
///   after the other, the blocks' states merge in order. Neighbours in memory
///   belong to different results, and rows are read as they lie.
enum class CanonicalOrder { lanes, blocks };
inline constexpr int64_t canonicalLanes = 64;
inline constexpr int64_t canonicalBlock = 64;
inline constexpr int64_t canonicalChunk = 8192;
/// Reductions of at most so many elements are written out by threads that have
/// results of their own.
inline constexpr int64_t shortReduction = 32;

struct ReductionAxes {
  llvm::SmallVector<int64_t> axes; ///< ascending
  bool keepdims = false;
};
ReductionAxes reductionAxes(mlir::Operation *op);
/// How many elements make one of the result.
mlir::AffineExpr reducedExtent(mlir::Operation *op);
/// Whether the reduced axes are the last ones, dims of size 1 aside.
bool reducesTrailing(mlir::Operation *op);
/// Sizes have no part in it: a symbolic dim may turn out to be 1.
CanonicalOrder canonicalOrder(mlir::Operation *op);

inline bool isReduced(const ReductionAxes &axes, unsigned dim) {
  return llvm::is_contained(axes.axes, int64_t(dim));
}

/// Coordinates of the operand for the result's element at `index`; those of
/// reduced dims are empty.
llvm::SmallVector<Coord>
keptCoordinates(Emission &emission, mlir::Operation *op, const Index &index);
/// Coordinates along the reduced axes of element number `r` of a result.
llvm::SmallVector<Coord>
reducedCoordinates(Emission &emission, mlir::Operation *op, const Coord &r);
/// The operand's index of element `r` of the result at `kept`.
Index elementIndex(Emission &emission, mlir::Operation *op,
                   llvm::ArrayRef<Coord> kept, const Coord &r);
/// Lanes along the reduced axes: a loop's, or fewer, of which each vector is
/// neighbours in memory, where dims that stay are between the reduced ones.
unsigned lanesAlongReduced(Emission &emission, mlir::Operation *op);
/// Elements of a reduction's operand: number `r` (with lanes) of those that
/// make the result's element at `index`, which has no lanes.
mlir::Value reductionElement(Emission &emission, mlir::Operation *op,
                             const Index &index, const Coord &r,
                             const Lanes &lanes);

/// The state of all lanes of a state, merged as a binary tree.
Emission::Values mergeLanes(Emission &emission, const Combiner &combiner,
                            const Emission::Values &state, unsigned lanes);

/// Emits the reduction of one row, lanes along it.
class RowReduction {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;
  using ElementAt = std::function<Value(const Coord &, const Lanes &)>;

  RowReduction(Emission &emission, const Combiner &combiner, unsigned lanes,
               ElementAt elementAt)
      : emission(emission), combiner(combiner), lanes(lanes),
        elementAt(std::move(elementAt)) {}

  /// The state after all `extent` elements.
  Values run(mlir::AffineExpr extent);
  /// The state of one chunk: elements [begin, begin + length) or [begin, end).
  Values chunk(Value begin, int64_t length);
  Values chunk(Value begin, Value end);

private:
  unsigned kept() const;
  unsigned statesIn(const Values &flat) const;
  Values initial(Value begin, unsigned vectors);
  Values block(Value begin, Values flat, Value remaining);
  Values blocks(Value begin, Value end, const Values &flat, int64_t together);
  int64_t blocksAtOnce(int64_t length) const;
  Value noteNan(Value noted, llvm::ArrayRef<Value> elements);
  Values merged(const Values &flat);

  Emission &emission;
  const Combiner &combiner;
  unsigned lanes;
  ElementAt elementAt;
};

} // namespace sinter::compiler
