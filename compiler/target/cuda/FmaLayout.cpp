/// FmaLayout: the menu of tiles.
#include "compiler/target/cuda/FmaLayout.h"

#include "llvm/ADT/STLExtras.h"

namespace sinter::compiler {

llvm::ArrayRef<FmaLayout> fmaLayouts() {
  static constexpr FmaLayout layouts[] = {
      {128, 128, 8, 8, 8, 2}, {128, 64, 8, 8, 8, 4},  {64, 128, 8, 8, 8, 4},
      {64, 64, 8, 4, 16, 4},  {32, 64, 4, 4, 16, 4},  {64, 32, 4, 4, 16, 4},
      {32, 32, 4, 4, 16, 8},  {128, 32, 8, 4, 16, 4}, {128, 16, 4, 4, 16, 4},
      {128, 8, 4, 4, 16, 8},  {32, 128, 4, 8, 16, 4}, {16, 128, 4, 4, 16, 4},
      {16, 64, 4, 4, 16, 8},
  };
  return layouts;
}

const FmaLayout &fmaLayoutOf(const BlockUnit::Tile &tile) {
  return *llvm::find_if(fmaLayouts(), [&](const FmaLayout &layout) {
    return layout.rows == tile.rows && layout.columns == tile.columns;
  });
}

} // namespace sinter::compiler
