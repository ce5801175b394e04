/// FmaUnit: products with sums in f32 as a block's unit.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/MachineModel.h"

#include <limits>

namespace sinter::compiler {

/// What of such a unit a device can have.
struct FmaDevice {
  const BlockThreads &threads; ///< outlives the unit
  Machines machines;
  int64_t mostThreads = std::numeric_limits<int64_t>::max(); ///< of a block
  int64_t mostNumbers = std::numeric_limits<int64_t>::max(); ///< of its memory
  /// Whether it adds a product that is not rounded for sure: where not, ordered
  /// sums are of rounded ones.
  bool hasFma = true;
  /// Whether it multiplies f16 and bf16, too, as the f32 that they are.
  bool widensHalves = false;
};

/// Tiles of products with sums in f32, which the threads of a block sum by
/// multiply-add, each some rows and columns of the tile, from panels of both
/// operands in shared memory. Operands are read element by element: they may be
/// computed. Threads of their own sum slices of k, each of which takes k in
/// ascending order; ordered sums are of one.
std::unique_ptr<const BlockUnit> makeFmaUnit(const FmaDevice &device);

} // namespace sinter::compiler
