/// FmaLayout: the menu of tiles.
#include "compiler/target/simt/FmaLayout.h"

namespace sinter::compiler {

llvm::ArrayRef<FmaLayout> fmaLayouts() {
  using Menu = FmaLayout::Menu;
  static constexpr FmaLayout layouts[] = {
      {128, 128, 8, 8, 8, 2},
      {128, 64, 8, 8, 8, 4},
      {64, 128, 8, 8, 8, 4},
      {64, 64, 8, 4, 16, 4},
      {32, 64, 4, 4, 16, 4},
      {64, 32, 4, 4, 16, 4},
      {32, 32, 4, 4, 16, 8},
      {128, 32, 8, 4, 16, 4},
      {128, 16, 4, 4, 16, 4},
      {128, 8, 4, 4, 16, 8},
      {32, 128, 4, 8, 16, 4},
      {16, 128, 4, 4, 16, 4},
      {16, 64, 4, 4, 16, 8},
      // Of windows: few channels, read element by element.
      {64, 16, 4, 4, 16, 8},
      // In slices, of few tiles: as measured where slices follow rows.
      {64, 64, 8, 4, 32, 2, 2, Menu::byRows},
      {64, 64, 8, 4, 64, 2, 4, Menu::byRows},
      {32, 64, 4, 4, 32, 4, 2, Menu::byRows},
      {32, 64, 4, 4, 64, 2, 4, Menu::byRows},
      {64, 32, 4, 4, 32, 4, 2, Menu::byRows},
      {64, 32, 4, 4, 64, 2, 4, Menu::byRows},
      {16, 64, 4, 4, 64, 4, 4, Menu::byRows},
      {128, 16, 4, 4, 64, 2, 4, Menu::byRows},
      {32, 64, 8, 8, 32, 2, 4, Menu::byRows},
      {32, 64, 8, 8, 64, 1, 8, Menu::byRows},
      {64, 32, 8, 8, 32, 2, 4, Menu::byRows},
      {64, 32, 8, 8, 64, 1, 8, Menu::byRows},
      {64, 64, 8, 8, 32, 2, 4, Menu::byRows},
      {64, 64, 8, 8, 64, 1, 8, Menu::byRows},
      {64, 64, 8, 8, 16, 2, 2, Menu::byRows},
      {64, 128, 8, 8, 16, 2, 2, Menu::byRows},
      {32, 128, 8, 8, 32, 2, 4, Menu::byRows},
      // In two slices.
      {128, 128, 8, 8, 16, 1, 2, Menu::byColumns},
      {64, 128, 8, 8, 16, 2, 2, Menu::byColumns},
      {128, 64, 8, 8, 16, 2, 2, Menu::byColumns},
      {64, 64, 8, 8, 16, 4, 2, Menu::byColumns},
      {64, 64, 4, 8, 16, 2, 2, Menu::byColumns},
      {32, 64, 4, 8, 32, 4, 2, Menu::byColumns},
      {32, 64, 8, 8, 8, 4, 2, Menu::byColumns},
      {32, 32, 4, 4, 32, 4, 2},
      {16, 32, 4, 4, 32, 8, 2},
      // In four.
      {64, 128, 8, 8, 16, 1, 4, Menu::byColumns},
      {128, 64, 8, 8, 16, 1, 4, Menu::byColumns},
      {64, 64, 8, 8, 32, 2, 4, Menu::byColumns},
      {64, 64, 8, 8, 16, 2, 4, Menu::byColumns},
      {32, 64, 8, 8, 32, 4, 4, Menu::byColumns},
      {32, 64, 8, 8, 16, 4, 4, Menu::byColumns},
      {32, 64, 4, 8, 32, 2, 4, Menu::byColumns},
      {64, 32, 8, 8, 32, 4, 4, Menu::byColumns},
      {64, 32, 8, 8, 16, 4, 4, Menu::byColumns},
      {32, 32, 4, 4, 64, 4, 4},
      {32, 32, 4, 4, 32, 4, 4, Menu::byColumns},
      {128, 32, 8, 8, 16, 2, 4, Menu::byColumns},
      {128, 16, 8, 8, 16, 4, 4, Menu::byColumns},
      {16, 32, 4, 4, 32, 8, 4, Menu::byColumns},
      {32, 16, 4, 4, 64, 4, 4},
      {32, 16, 4, 4, 16, 4, 4, Menu::byColumns},
  };
  return layouts;
}

} // namespace sinter::compiler
