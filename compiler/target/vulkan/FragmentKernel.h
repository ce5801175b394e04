/// FragmentKernel: a kernel whose workgroups multiply a tile each in fragments.
///
/// Panels of both operands, some of k at a time, are in one stage of memory;
/// while subgroups sum the products of what is there, what comes next is on its
/// way to registers. Sums go through memory, too, to threads that finish them.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/simt/PanelKernel.h"
#include "compiler/target/vulkan/FragmentLayout.h"

namespace sinter::compiler {

class FragmentKernel final : public PanelKernel {
public:
  /// `isEmulated`: whether fragments are loops over numbers.
  FragmentKernel(mlir::OpBuilder &builder, mlir::Location loc,
                 const KernelEntry &entry, const BlockUnit::Product &product,
                 const BlockUnit::Tile &tile, BlockUnit::Client &client,
                 const BlockThreads &threads, bool isEmulated);
  void run();

private:
  void begin();
  int64_t groupsOf(const Panel &panel) const {
    return layout.groups(panel.lines, panel.alongDepth);
  }
  /// Where it begins in memory: the right one behind the left one.
  int64_t placeOf(const Panel &panel) const {
    return panel.isLeft ? 0 : groupsOf(left);
  }
  /// Each piece that `loadStage` has brought as a vector of words.
  Values wordsOfStage(mlir::ValueRange values) const;
  void storePanel(const Panel &panel, mlir::ValueRange words);
  void storeStage(mlir::ValueRange words);
  Value wordsOf(mlir::ValueRange parts) const;
  Fragments::Operand loadFragment(const Panel &panel, int64_t number,
                                  int64_t k) const;
  Values addStage(mlir::ValueRange sums);
  Values sumRounds(const Place &place, Value rounds) override;
  Values noSums() override;
  void finish(const Place &place, mlir::ValueRange sums);
  void finishRows(const Place &place, int64_t number);
  void waitForSubgroup() const;
  void wait() const { threads.wait(builder, loc); }

  const KernelEntry &entry;
  const FragmentLayout &layout;
  const BlockThreads &threads;
  const bool isEmulated;

  std::unique_ptr<const Fragments> fragments;
  /// All in one array of words: the sums where the panels were.
  Fragments::Lines leftLines, rightLines, sumLines;
  Value lane;        ///< of the subgroup (i32)
  Value row, column; ///< of the tile, the subgroup's first ones (i32)
  Value firstSum;    ///< group of the subgroup's sums in memory (i32)
};

} // namespace sinter::compiler
