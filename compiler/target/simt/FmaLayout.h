/// FmaLayout: how blocks that multiply f32 share work and memory.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <algorithm>
#include <cstdint>

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
  /// Threads that lie side by side, however many a device runs together.
  static constexpr int64_t warp = 32;
  /// Neighbours in k that a slice sums before those of the next slice come: the
  /// number of slices alone says what each of them sums, whatever a stage
  /// holds.
  static constexpr int64_t run = group;

  int64_t rows, columns;             ///< of the tile
  int64_t threadRows, threadColumns; ///< of a thread
  int64_t depth;                     ///< of a stage
  int64_t blocks;                    ///< that share a multiprocessor
  /// Of k, run by run in turn, each of which threads of its own sum for the
  /// whole tile.
  int64_t slices = 1;

  int64_t threadsOfSlice() const {
    return rows / threadRows * (columns / threadColumns);
  }
  int64_t depthOfSlice() const { return depth / slices; }
  /// Where in a stage a slice has its number `k`, behind its first run.
  int64_t placeInStage(int64_t k) const {
    return k / run * run * slices + k % run;
  }
  int64_t threads() const { return slices * threadsOfSlice(); }
  int64_t warps() const { return threads() / warp; }
  int64_t warpsOfSlice() const { return warps() / slices; }
  int64_t sums() const { return threadRows * threadColumns; }
  /// Threads of a warp side by side in a row, and one below the other.
  int64_t across() const {
    return std::min<int64_t>(8, columns / threadColumns);
  }
  int64_t down() const { return warp / across(); }
  int64_t warpRows() const { return down() * threadRows; }
  int64_t warpColumns() const { return across() * threadColumns; }
  int64_t warpsAcross() const { return columns / warpColumns(); }
  /// Elements of a row of a panel, of a stage, of all stages.
  int64_t leftStride() const { return rows + padding; }
  int64_t rightStride() const { return columns + padding; }
  int64_t stageElements() const {
    return depth * (leftStride() + rightStride());
  }
  /// Each slice finishes so many of a thread's rows, where there are several.
  int64_t finishedRows() const { return threadRows / slices; }
  /// What slices exchange of a thread's, in groups of columns: all of them at
  /// once or, where blocks have memory for no more than `most` numbers, so many
  /// at a time.
  int64_t finishedGroups() const {
    return finishedRows() * threadColumns / group;
  }
  int64_t groupsAtOnce(int64_t most) const {
    int64_t groups = finishedGroups();
    while (groups > 1 && exchanged(groups) > most)
      groups /= 2;
    return groups;
  }
  /// Of the memory, where blocks have `most`.
  int64_t numbers(int64_t most) const {
    int64_t own = slices > 1 ? exchanged(groupsAtOnce(most)) : 0;
    return std::max(stages * stageElements(), own);
  }

private:
  int64_t exchanged(int64_t groups) const {
    return threads() * slices * groups * group;
  }
};

/// All of them; a tile has the number of one.
llvm::ArrayRef<FmaLayout> fmaLayouts();

} // namespace sinter::compiler
