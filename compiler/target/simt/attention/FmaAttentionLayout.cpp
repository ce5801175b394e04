/// FmaAttentionLayout: the menu of tiles, and what they keep.
#include "compiler/target/simt/attention/FmaAttentionLayout.h"

#include "llvm/Support/MathExtras.h"

namespace sinter::compiler {

llvm::ArrayRef<FmaAttentionLayout> fmaAttentionLayouts() {
  static constexpr FmaAttentionLayout layouts[] = {
      {64, 64, 4, 4}, {64, 32, 4, 4}, {32, 32, 4, 4}, {32, 16, 2, 4},
      {16, 16, 2, 2}, {16, 8, 2, 1},  {8, 8, 1, 1},
  };
  return layouts;
}

llvm::ArrayRef<FmaAttentionLayout> fmaAttentionPartLayouts() {
  static constexpr FmaAttentionLayout layouts[] = {
      {4, 64, 1, 4}, {8, 64, 1, 4}, {16, 64, 2, 4},
      {4, 32, 1, 2}, {8, 32, 1, 2}, {16, 32, 2, 2},
      {4, 16, 1, 1}, {8, 16, 1, 1}, {16, 16, 2, 1},
  };
  return layouts;
}

FmaAttentionMemory::Panel FmaAttentionMemory::add(int64_t lines,
                                                  int64_t width) {
  Panel panel{numbers, lines,
              int64_t(llvm::divideCeil(width, FmaAttentionLayout::group))};
  numbers += lines * panel.pitch();
  return panel;
}

FmaAttentionMemory::FmaAttentionMemory(
    const AttentionUnit::Attention &attention,
    const FmaAttentionLayout &layout) {
  using Unit = AttentionUnit;
  operands[Unit::rowsOfScores] = add(layout.rows, attention.length);
  operands[Unit::stepsOfScores] = add(layout.steps, attention.length);
  operands[Unit::stepsOfChanges] = add(layout.steps, attention.valueLength);
  if (attention.ofChanges) {
    operands[Unit::rowsOfChanges] = add(layout.rows, attention.valueLength);
    changes = add(layout.rows, layout.steps);
  }
  if (attention.ofWeights)
    weights = add(layout.rows, layout.steps);
  if (!attention.isGradient)
    ofThreads = add(layout.rows, layout.across());
}

} // namespace sinter::compiler
