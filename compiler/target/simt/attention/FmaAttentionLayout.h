/// FmaAttentionLayout: how blocks that make attention by multiply-add share
/// work and memory.
#pragma once

#include "compiler/target/AttentionUnit.h"

#include <algorithm>

namespace sinter::compiler {

/// How a block's threads share the scores of a tile's rows and a stage's steps.
/// Neighbouring threads have neighbouring steps, and the next ones behind those
/// of all. The rows of a thread are in one granule.
struct FmaAttentionLayout {
  /// Numbers that are read and written at once.
  static constexpr int64_t group = 4;

  int64_t rows, steps;             ///< of a tile, of a stage
  int64_t threadRows, threadSteps; ///< of a thread

  /// Threads that share rows, and those that share steps.
  int64_t across() const { return steps / threadSteps; }
  int64_t down() const { return rows / threadRows; }
  int64_t threads() const { return across() * down(); }
  /// Threads that share steps in a granule; also the distance of a thread's
  /// rows.
  int64_t downGranule() const {
    return std::min(down(), causalGranule / threadRows);
  }
};

/// From the largest on.
llvm::ArrayRef<FmaAttentionLayout> fmaAttentionLayouts();
/// For few rows, of parts of the steps. Layouts with as many steps sum in the
/// same order; of these the one with most rows is the last.
llvm::ArrayRef<FmaAttentionLayout> fmaAttentionPartLayouts();

/// The memory of a block: panels of lines, one behind the other.
struct FmaAttentionMemory {
  struct Panel {
    int64_t start = 0, lines = 0;
    int64_t groups = 0; ///< of numbers of a line

    /// Numbers between lines: neighbouring threads, which read neighbouring
    /// lines, read from different banks.
    int64_t pitch() const { return (groups + 1) * FmaAttentionLayout::group; }
  };

  FmaAttentionMemory(const AttentionUnit::Attention &attention,
                     const FmaAttentionLayout &layout);

  std::array<Panel, AttentionUnit::numOperands> operands;
  Panel weights, changes; ///< [row][step]; of no lines where nothing is summed
  Panel ofThreads; ///< [row][thread]: a number of each of a row's threads
  int64_t numbers = 0;

private:
  Panel add(int64_t lines, int64_t width);
};

} // namespace sinter::compiler
