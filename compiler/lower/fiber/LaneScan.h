/// LaneScan: the lanes of a vector, each folded with all before it.
#pragma once

#include "compiler/lower/element/Combiner.h"

namespace sinter::compiler {

/// Neighbours are folded in pairs first, then pairs with those 1, 2, 4, ...
/// before them, so that work goes on in all lanes side by side. Where lanes
/// have the state of having seen nothing, fewer of them give the same bits.
class LaneScan {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;

  /// The lanes a scan may have; a power of two of at least 4.
  static constexpr unsigned mostLanes = 64, fewestLanes = 4;

  /// `backwards`: the last lane is the first to be folded.
  LaneScan(Emission &emission, const Combiner &combiner, unsigned lanes,
           bool backwards)
      : emission(emission), combiner(combiner), lanes(lanes),
        backwards(backwards) {}

  /// Folds a state of all lanes; what follows is about these lanes.
  void fold(const Values &state);
  /// All lanes folded: scalars.
  Values total() const;
  /// Each lane folded with those before it and with what came before all of
  /// them (scalars).
  Values from(const Values &start) const;
  /// The same without the lane's own element.
  Values before(const Values &start) const;

private:
  Value shuffle(Value a, Value b, llvm::ArrayRef<int64_t> order) const;
  Values shifted(const Values &state, const Values &in, int64_t distance) const;
  Values spread(const Values &scalars, unsigned count) const;

  Emission &emission;
  const Combiner &combiner;
  unsigned lanes;
  bool backwards;
  /// Of a pair, the lane that is folded first; all pairs up to each.
  Values earlier, pairs;
};

} // namespace sinter::compiler
