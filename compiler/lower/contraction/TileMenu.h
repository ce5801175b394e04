/// TileMenu: plans of a contraction that a schedule may name.
#pragma once

#include "compiler/lower/contraction/TileShape.h"

#include <string>
#include <vector>

namespace sinter::compiler {

struct NamedTile {
  std::string name; ///< `block 96x256 depth 256`, `tile 8x128` of threads
  TileShape shape;
};

/// The plan that `chooseTile` gives, then others with larger and smaller blocks
/// that give the same bits; alone where nothing else is known to fit, as of
/// rows that are reduced inside of a block.
std::vector<NamedTile> tilesFor(const Target &target,
                                ir::ContractionOpInterface op,
                                NumericsMode numerics);

} // namespace sinter::compiler
