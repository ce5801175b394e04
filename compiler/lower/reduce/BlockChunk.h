/// BlockChunk: a canonical chunk of a long sum that a block of threads takes.
/// All threads bring elements to the memory that they share; one for each lane
/// of the canonical order sums them there, so that bits are those of a warp's.
#pragma once

#include "compiler/lower/element/Combiner.h"
#include "compiler/target/BlockThreads.h"

#include <functional>

namespace sinter::compiler {

class BlockChunk {
public:
  using Value = mlir::Value;
  using ElementAt = std::function<Value(const Coord &, const Lanes &)>;

  /// `multiplies`: whether products are summed that need not be rounded.
  BlockChunk(const BlockThreads &unit, bool multiplies);

  /// Whether the unit has memory for it.
  bool fits() const { return size > 0; }
  /// Whether the op is a sum that is kept as one f32.
  static bool takes(mlir::Operation *op);

  int64_t warps() const { return threads / unit.warpThreads(); }
  /// Begins the kernel.
  void begin(Emission &emission);
  /// The number of the block.
  Value number() const { return block.number; }
  /// The state of elements [begin, end), at most a chunk; without `end` a
  /// whole one. Known to all threads of a warp, the first one.
  Value reduce(Emission &emission, mlir::Operation *op, Value begin, Value end,
               const ElementAt &elementAt);
  /// Whether the thread is the block's first.
  Value isFirst(Emission &emission) const;

private:
  void put(Emission &emission, const Combiner &combiner, Value first, Value end,
           const ElementAt &elementAt);
  Value stagedAt(Emission &emission, Value place) const;
  Value sumLane(Emission &emission, const Combiner &combiner, Value state,
                Value valid) const;
  Value mergeLanes(Emission &emission, const Combiner &combiner, Value state);
  Value load(Emission &emission, Value place) const;
  void store(Emission &emission, Value value, Value place) const;
  void wait(Emission &emission) const {
    unit.wait(emission.builder, emission.loc);
  }
  Value isLane(Emission &emission) const;

  const BlockThreads &unit;
  const bool multiplies;
  int64_t threads = 0;
  int64_t size = 0; ///< of what is in memory at a time
  BlockThreads::Block block;
};

} // namespace sinter::compiler
