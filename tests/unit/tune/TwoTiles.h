/// TwoTiles: a compiler of one kernel, x + y, that has a few tiles.
#pragma once

#include "runtime/program/CompilerHook.h"

#include <string>
#include <vector>

namespace sinter::runtime::test {

/// What such a compiler was asked for.
struct Asked {
  int programs = 0;
  int kernels = 0;               ///< by themselves, with each tile
  std::vector<TileChoice> tiles; ///< of the last program
};

/// Registers it while it lives. The kernel is `contraction_1`; of its tiles
/// `slow` computes the sum many times over, `fast` once, `near` with a rounding
/// more, `wrong` another number; `missing` is not compiled.
class TwoTiles {
public:
  explicit TwoTiles(std::vector<std::string> tiles);
  ~TwoTiles();
  TwoTiles(const TwoTiles &) = delete;
  TwoTiles &operator=(const TwoTiles &) = delete;

  static Asked &asked();
  /// The program, one launch of the kernel, as a compiler would give it.
  static Result<std::vector<std::byte>> compile(const CompileRequest &request);
};

} // namespace sinter::runtime::test
