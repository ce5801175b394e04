/// FmaKernel: a kernel whose blocks multiply a tile each by multiply-add.
///
/// The threads of a block bring panels of both operands, some of k at a time,
/// to one of two stages in shared memory; while they sum the products of one
/// stage, what the next one is to hold is on its way to registers. In shared
/// memory k counts rows, so that a thread reads its rows and columns as
/// vectors.
#pragma once

#include "compiler/target/BlockThreads.h"
#include "compiler/target/simt/FmaLayout.h"
#include "compiler/target/simt/Numbers.h"

namespace sinter::compiler {

class FmaKernel {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using Place = BlockUnit::Place;

  /// `isFused`: whether a product is not rounded before it is added.
  FmaKernel(mlir::OpBuilder &builder, mlir::Location loc,
            const KernelEntry &entry, const BlockUnit::Product &product,
            const BlockUnit::Tile &tile, BlockUnit::Client &client,
            const BlockThreads &threads, bool isFused);
  void run();

private:
  /// An operand's part of the tile, and who brings it.
  struct Panel {
    bool isLeft = false;
    bool alongDepth = false; ///< neighbours lie along k
    int64_t lines = 0;       ///< rows or columns
    int64_t stride = 0;      ///< from one k to the next in a stage
    int64_t at = 0;          ///< elements from the stage's start
    unsigned count = 1;      ///< neighbours that are read at once
    int64_t loads = 1;       ///< of a thread
    bool endsInside = false; ///< whether a tile may have lines behind the last
  };
  /// What one load brings: its line and k in the stage, of which the one along
  /// which neighbours lie counts groups (i32).
  struct Piece {
    Value line, k;
  };

  Panel panelOf(bool isLeft) const;
  void begin();
  Piece pieceOf(const Panel &panel, int64_t load) const;
  Values loadPanel(const Panel &panel, const Place &place, Value first);
  Value loadPiece(const Panel &panel, const Place &place, const Piece &piece,
                  Value first);
  void storePanel(const Panel &panel, mlir::ValueRange values, Value stage);
  Values loadStage(const Place &place, Value round);
  void storeStage(mlir::ValueRange values, Value round);
  Values sumTile(const Place &place);
  Values sumRounds(const Place &place, Value rounds);
  Values addStage(Value round, mlir::ValueRange sums);
  Value exchangedAt(Value number) const;
  void exchange(mlir::ValueRange sums);
  Values addSlices(Value first);
  Values readLine(Value stage, int64_t at, int64_t groups, int64_t step);
  void finish(const Place &place, Value first, mlir::ValueRange sums);

  Value widened(Value value) const;
  Value addProduct(Value x, Value y, Value sum) const;
  Value stageAt(Value round) const;
  Value placeAt(Value place, Value elements) const;
  Value placeAt(Value place, int64_t elements) const;
  Value index(int64_t value) const;

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const Numbers numbers;
  const KernelEntry &entry;
  const BlockUnit::Product &product;
  const FmaLayout &layout;
  const int64_t blocks;
  BlockUnit::Client &client;
  const BlockThreads &threads;
  const bool isFused;
  const bool endsInStage; ///< whether k may end inside a stage
  const int64_t rounds;   ///< stages of a tile; -1 where unknown
  const Panel left, right;

  BlockThreads::Panels block;
  Value slice;       ///< of k (i32); null for one
  Value row, column; ///< of the tile, the thread's first ones (i32)
};

} // namespace sinter::compiler
