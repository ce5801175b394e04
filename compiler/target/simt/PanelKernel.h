/// PanelKernel: what kernels have in common whose blocks bring panels of both
/// operands, some of k at a time, to memory, and sum there for a tile.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/simt/Numbers.h"

namespace sinter::compiler {

class PanelKernel {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using Place = BlockUnit::Place;

  virtual ~PanelKernel() = default;

protected:
  /// Of a tile, of a stage's k, of a block, and how many neighbours are stored
  /// at once if as many are read at once: all powers of two.
  struct Sizes {
    int64_t rows = 0, columns = 0, depth = 0, threads = 0, group = 0;
    /// Whether that many are stored in any case.
    bool storesGroups = false;
    /// Along k, elements of a line that neighbouring threads bring.
    int64_t beside = 0;
    /// Whether lines of neighbouring threads lie apart, for memory in which an
    /// odd number of 16 bytes is between lines.
    bool spreadsLines = false;
  };

  /// An operand's part of the tile, and who brings it.
  struct Panel {
    bool isLeft = false;
    bool alongDepth = false; ///< neighbours lie along k
    int64_t lines = 0;       ///< rows or columns
    unsigned together = 1;   ///< neighbours that are read at once
    unsigned count = 1;      ///< of a piece: read one by one, stored at once
    int64_t loads = 1;       ///< pieces of a thread
    bool endsInside = false; ///< whether a tile may have lines behind the last
  };
  /// A part of a panel: its line and k in the stage, of which the one along
  /// which neighbours lie counts pieces (i32).
  struct Piece {
    Value line, k;
  };

  PanelKernel(mlir::OpBuilder &builder, mlir::Location loc,
              const BlockUnit::Product &product, const BlockUnit::Tile &tile,
              BlockUnit::Client &client, const Sizes &sizes);

  Piece pieceOf(const Panel &panel, int64_t load) const;
  /// What the thread brings of a stage: pieces of the left panel, then those of
  /// the right one.
  Values loadStage(const Place &place, Value round);
  /// How many values that are of a panel.
  static int64_t valuesOf(const Panel &panel) {
    return panel.loads * (panel.count / panel.together);
  }
  /// Sums of a tile: of no rounds, where k may be nothing, `noSums`.
  Values sumTile(const Place &place);
  virtual Values sumRounds(const Place &place, Value rounds) = 0;
  virtual Values noSums() = 0;

  /// Finishes what a thread has of a tile, some fragments at a time.
  void finishAll(const Place &place,
                 llvm::ArrayRef<BlockUnit::Fragment> fragments);

  Value index(int64_t value) const;

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const Numbers numbers;
  const BlockUnit::Product &product;
  BlockUnit::Client &client;
  const Sizes sizes;
  const bool endsInStage; ///< whether k may end inside a stage
  const int64_t rounds;   ///< stages of a tile; -1 where unknown
  const Panel left, right;
  Value thread; ///< of the block (i32), before anything is brought

private:
  Panel panelOf(bool isLeft) const;
  Value spread(Value line, int64_t beside) const;
  Value loadPart(const Panel &panel, const Place &place, const Piece &piece,
                 Value first, unsigned part);
  Values loadPanel(const Panel &panel, const Place &place, Value first);
};

} // namespace sinter::compiler
