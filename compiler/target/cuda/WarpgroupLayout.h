/// WarpgroupLayout: how blocks that multiply by warpgroups share work and
/// memory.
#pragma once

#include "compiler/target/MachineModel.h"
#include "compiler/target/Target.h"
#include "runtime/device/cuda/TensorMap.h"

namespace sinter::compiler {

/// How a block shares its work and its memory: a function of the tile.
struct WarpgroupLayout {
  static constexpr int64_t threads = 128;   ///< of a warpgroup
  static constexpr int64_t rows = 64;       ///< of a warpgroup's share
  static constexpr int64_t depth = 64;      ///< of a stage: 128 bytes
  static constexpr int64_t boxColumns = 64; ///< of a map's part: 128 bytes
  static constexpr int64_t boxBytes = rows * boxColumns * 2;
  /// After so many bytes parts are swizzled alike.
  static constexpr int64_t swizzledBytes = 1024;
  static constexpr int64_t boxesOut = 2; ///< of results, for each warpgroup

  WarpgroupLayout(const BlockUnit::Tile &tile, int64_t pieces,
                  const MachineModel &machine);

  /// Of k: boxes have channels of one place under windows, behind which they
  /// are zero.
  static constexpr int64_t depthOfPlace(int64_t channels) {
    return (channels + boxColumns - 1) / boxColumns * boxColumns;
  }

  int64_t warpgroups() const { return consumers + 1; }
  /// Stages of a turn of the loop over k: of pieces one is multiplied while
  /// the sums of the other one are added.
  int64_t stagesAtOnce() const { return pieces > 1 ? 2 : 1; }
  int64_t depthAtOnce() const { return stagesAtOnce() * depth; }
  int64_t rightAt() const { return pieces * leftBytes; }
  int64_t boxesAt() const { return stages * stageBytes; }
  int64_t fullAt() const { return boxesAt() + consumers * boxesOut * boxBytes; }
  int64_t emptyAt() const { return fullAt() + 8 * stages; }
  int64_t bytes() const { return emptyAt() + 8 * stages; }

  int64_t consumers; ///< warpgroups that multiply
  int64_t columns;   ///< of the tile
  int64_t blocks;    ///< on a multiprocessor
  int64_t pieces;    ///< of an element, each with a place of its own in a stage
  int64_t leftBytes, rightBytes; ///< of a piece
  int64_t stageBytes, stages;
};

/// The map of a matrix in boxes of so many elements along its first two axes.
/// Nothing where a launch could not say its sizes.
std::optional<runtime::TensorMap> mapOf(const BlockUnit::Matrix &matrix,
                                        mlir::Type element, int64_t inner,
                                        int64_t outer);

/// Whether there is such a map whose copies start where they have to.
bool fitsMap(const BlockUnit::Matrix &matrix, mlir::Type element);

} // namespace sinter::compiler
