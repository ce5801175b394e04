/// WarpgroupKernel: a kernel whose blocks multiply tiles by warpgroups.
///
/// The first warpgroup copies parts of both operands into a ring of stages; the
/// others sum the products of each stage, each a share of the tile's rows, and
/// finish what they have summed while the first copies for the next tile.
///
/// Of f32 a stage has two or three pieces of each element, bf16 each, whose
/// products are summed but for those below what they leave (Henry, Tang and
/// Heinecke, Leveraging the bfloat16 Artificial Intelligence Datatype For
/// Higher-Precision Computations, 2019). The units truncate sums, so that those
/// of a stage are added to the others by f32 additions.
#pragma once

#include "compiler/target/cuda/WarpgroupBlock.h"
#include "compiler/target/cuda/WarpgroupLayout.h"
#include "compiler/target/cuda/WarpgroupProduct.h"

namespace sinter::compiler {

class WarpgroupKernel final : private WarpgroupBlock {
public:
  using Place = BlockUnit::Place;

  WarpgroupKernel(mlir::OpBuilder &builder, mlir::Location loc,
                  const KernelEntry &entry, const BlockUnit::Product &product,
                  const BlockUnit::Tile &tile, const MachineModel &machine,
                  BlockUnit::Client &client);
  void run();

private:
  /// An operand's boxes in a stage.
  struct Boxes {
    const BlockUnit::Matrix *matrix = nullptr;
    Value map;
    int64_t at = 0;     ///< bytes from the stage's start
    int64_t bytes = 0;  ///< from a piece to the next
    int64_t extent = 0; ///< rows or columns that are copied
  };

  void declareMaps();
  void produce() override;
  void copyStage(const Place &place, Value k, const Turn &turn);
  void copyBoxes(const Boxes &boxes, const Place &place, Value k, int64_t piece,
                 Value stage, Value full);
  void copyWindows(const Boxes &boxes, Value position, Value element,
                   int64_t piece, Value to, Value full);
  void consume() override;
  Value roundsOf(const Place &place) const;
  Values sumTile(const Turn &turn, Value rounds, Values carried);
  Values multiplyStage(const Turn &turn, Value k, mlir::ValueRange sums);
  Value shareOf(Value stage) const;

  // ---- of pieces
  Values sumPieces(const Turn &turn, Value rounds, mlir::ValueRange zeros);
  Values multiplyPieces(const Turn &turn);
  Values added(mlir::ValueRange sums, mlir::ValueRange others) const;
  Values finite(const Place &place,
                llvm::ArrayRef<BlockUnit::Fragment> fragments,
                mlir::ValueRange sums);
  Values sumSlowly(const Place &place,
                   llvm::ArrayRef<BlockUnit::Fragment> fragments,
                   mlir::ValueRange zeros);

  llvm::SmallVector<BlockUnit::Fragment> fragmentsOfThread();
  void finishTile(const Place &place,
                  llvm::ArrayRef<BlockUnit::Fragment> fragments);
  void storePart(const Place &place, int64_t box, mlir::ValueRange fragments);
  bool isWhole() const;
  size_t fragmentsTogether(size_t all) const;
  size_t fragmentsOfBox() const;
  int64_t sumsOfThread() const { return layout.columns / 2; }

  const BlockUnit::Product &product;
  const mlir::Type element; ///< of a piece
  const WarpgroupLayout layout;
  const Ring ring;
  const bool cutsDepth;
  const WarpgroupProduct warpgroup;
  BlockUnit::Client &client;

  Boxes left, right;
  Value resultMap;
  Value rounds; ///< stages of each tile; null where tiles differ
};

} // namespace sinter::compiler
