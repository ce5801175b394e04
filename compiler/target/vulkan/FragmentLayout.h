/// FragmentLayout: how the subgroups of a workgroup share a tile of a product
/// that they sum in fragments.
#pragma once

#include "compiler/target/vulkan/Fragments.h"

#include "llvm/ADT/ArrayRef.h"

namespace sinter::compiler {

/// Subgroups have parts of the tile side by side, each some fragments.
struct FragmentLayout {
  /// Of a group of the memory: numbers of sixteen bits, and of f32.
  static constexpr int64_t halves = 8, floats = 4;
  /// Groups between lines, so that those below each other are in different
  /// banks.
  static constexpr int64_t padding = 1;

  int64_t rows, columns; ///< of the tile
  int64_t depth;         ///< of a stage
  int64_t down, across;  ///< subgroups

  int64_t subgroups() const { return down * across; }
  int64_t ownRows() const { return rows / down; }
  int64_t ownColumns() const { return columns / across; }
  int64_t fragmentsDown() const { return ownRows() / Fragments::size; }
  int64_t fragmentsAcross() const { return ownColumns() / Fragments::size; }
  /// Groups from one line of a panel, which lies along k or not, to the next,
  /// and of all its lines.
  int64_t stride(int64_t lines, bool alongDepth) const {
    return (alongDepth ? depth : lines) / halves + padding;
  }
  int64_t groups(int64_t lines, bool alongDepth) const {
    return (alongDepth ? lines : depth) * stride(lines, alongDepth);
  }
  /// Of the sums that a subgroup finishes at a time: rows of one fragment.
  int64_t sumStride() const { return ownColumns() / floats + padding; }
  int64_t sumGroups() const { return Fragments::size * sumStride(); }
  /// Of the memory, at most.
  int64_t bytes() const {
    auto most = [&](int64_t lines) {
      return std::max(groups(lines, true), groups(lines, false));
    };
    return 16 * std::max(most(rows) + most(columns), subgroups() * sumGroups());
  }
};

/// All of them, the largest tiles first; a tile has the number of one.
llvm::ArrayRef<FragmentLayout> fragmentLayouts();

} // namespace sinter::compiler
