/// FmaLayout: how blocks that multiply f32 share work and memory.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/cuda/Warp.h"

namespace sinter::compiler {

/// How a block's threads share a tile. A thread has groups of four rows and of
/// four columns; those of a warp's threads lie side by side, the next groups
/// behind all of them, so that a warp reads whole lines of shared memory.
struct FmaLayout {
  static constexpr int64_t group = 4;
  /// Between rows of a panel, so that a warp's threads that write down the
  /// panel write to different banks.
  static constexpr int64_t padding = 4;
  static constexpr int64_t stages = 2;

  int64_t rows, columns;             ///< of the tile
  int64_t threadRows, threadColumns; ///< of a thread
  int64_t depth;                     ///< of a stage
  int64_t blocks;                    ///< that share a multiprocessor

  int64_t threads() const {
    return rows / threadRows * (columns / threadColumns);
  }
  int64_t warps() const { return threads() / int64_t(Warp::threads); }
  /// Threads of a warp side by side in a row, and one below the other.
  int64_t across() const {
    return std::min<int64_t>(8, columns / threadColumns);
  }
  int64_t down() const { return int64_t(Warp::threads) / across(); }
  int64_t warpRows() const { return down() * threadRows; }
  int64_t warpColumns() const { return across() * threadColumns; }
  int64_t warpsAcross() const { return columns / warpColumns(); }
  /// Elements of a row of a panel, of a stage, of all stages.
  int64_t leftStride() const { return rows + padding; }
  int64_t rightStride() const { return columns + padding; }
  int64_t stageElements() const {
    return depth * (leftStride() + rightStride());
  }
  int64_t bytes() const { return stages * stageElements() * 4; }
};

/// All of them, and that of a tile that was chosen among them.
llvm::ArrayRef<FmaLayout> fmaLayouts();
const FmaLayout &fmaLayoutOf(const BlockUnit::Tile &tile);

} // namespace sinter::compiler
