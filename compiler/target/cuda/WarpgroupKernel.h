/// WarpgroupKernel: a kernel whose blocks multiply tiles by warpgroups.
///
/// The first warpgroup of a block copies parts of both operands, one thread
/// asking for them, into a ring of stages; the others sum the products of each
/// stage, each a share of the tile's rows, and finish what they have summed
/// while the first copies for the next tile. Two barriers of each stage say
/// that it is full, and that it may be filled again.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/cuda/Ptx.h"
#include "compiler/target/cuda/WarpgroupLayout.h"
#include "compiler/target/cuda/WarpgroupProduct.h"

namespace sinter::compiler {

class WarpgroupKernel {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  using Place = BlockUnit::Place;

  WarpgroupKernel(mlir::OpBuilder &builder, mlir::Location loc,
                  const KernelEntry &entry, const BlockUnit::Product &product,
                  const BlockUnit::Tile &tile, BlockUnit::Client &client);
  void run();

private:
  /// Where in the ring: the number of a stage, and the parity of its round.
  struct Turn {
    Value stage, parity;
  };
  /// An operand's boxes in a stage.
  struct Boxes {
    const BlockUnit::Matrix *matrix = nullptr;
    Value map;
    int64_t at = 0;     ///< bytes from the stage's start
    int64_t extent = 0; ///< rows or columns that are copied
  };

  void declareMaps();
  Value addMap(const BlockUnit::Matrix &matrix, int64_t inner, int64_t outer);
  void begin();
  void produce();
  void copyStage(const Place &place, Value k, const Turn &turn);
  void copyBoxes(const Boxes &boxes, const Place &place, Value k, Value stage,
                 Value full);
  void consume();
  Values sumTile(const Turn &turn, Values carried);
  Values multiplyStage(const Turn &turn, Value k, mlir::ValueRange sums);
  llvm::SmallVector<BlockUnit::Fragment> fragmentsOfThread();
  void finishTile(const Place &place,
                  llvm::ArrayRef<BlockUnit::Fragment> fragments);
  bool isWhole() const;
  size_t fragmentsTogether(size_t all) const;
  void storeBox(const Place &place, int64_t box, mlir::ValueRange words);

  Values loop(Value begin, Value end, Value step, mlir::ValueRange carried,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void when(Value condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = {});
  Turn next(const Turn &turn) const;
  Value before(Value stage) const;
  Value stageAt(Value stage) const;
  Value barrierAt(int64_t first, Value stage) const;
  int64_t sumsOfThread() const { return layout.columns / 2; }

  mlir::OpBuilder &builder;
  const mlir::Location loc;
  const Ptx ptx;
  const KernelEntry &entry;
  const BlockUnit::Product &product;
  const WarpgroupLayout layout;
  const int64_t depthOfTile;
  const WarpgroupProduct warpgroup;
  BlockUnit::Client &client;

  std::string lines; ///< that say the maps
  unsigned maps = 0;
  Boxes left, right;
  Value resultMap;
  Value memory;                         ///< the block's, an address
  Value thread, warp;                   ///< of the block
  Value consumer, isFirst;              ///< number; the first thread of it
  Value firstTile, endTiles, stepTiles; ///< index
  Value rounds;                         ///< stages of a tile
};

} // namespace sinter::compiler
