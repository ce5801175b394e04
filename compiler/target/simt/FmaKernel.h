/// FmaKernel: a kernel whose blocks multiply a tile each by multiply-add.
///
/// The threads of a block bring panels of both operands, some of k at a time,
/// to one of two stages in shared memory; while they sum the products of one
/// stage, what the next one is to hold is on its way to registers. In shared
/// memory k counts rows, so that a thread reads its rows and columns as
/// vectors.
#pragma once

#include "compiler/target/simt/FmaLayout.h"
#include "compiler/target/simt/FmaUnit.h"
#include "compiler/target/simt/PanelKernel.h"

namespace sinter::compiler {

class FmaKernel final : public PanelKernel {
public:
  /// `isFused`: whether a product is not rounded before it is added.
  FmaKernel(mlir::OpBuilder &builder, mlir::Location loc,
            const KernelEntry &entry, const BlockUnit::Product &product,
            const BlockUnit::Tile &tile, BlockUnit::Client &client,
            const FmaDevice &device, bool isFused);
  void run();

private:
  void begin();
  void storePanel(const Panel &panel, mlir::ValueRange values, Value stage);
  void storeStage(mlir::ValueRange values, Value round);
  Values sumRounds(const Place &place, Value rounds) override;
  Values noSums() override;
  Values sumsOf(float number) const;
  Values addStage(Value round, mlir::ValueRange sums);
  Values addSlices(mlir::ValueRange sums);
  Value groupAt(Value number, int64_t next) const;
  void giveGroups(mlir::ValueRange sums, int64_t first, int64_t count);
  Values takeGroups(int64_t count);
  Values readLine(Value stage, int64_t at, int64_t groups, int64_t step);
  void finish(const Place &place, Value first, mlir::ValueRange sums);

  Value addProduct(Value x, Value y, Value sum) const;
  Value stageAt(Value round) const;
  Value placeAt(Value place, Value elements) const;
  Value placeAt(Value place, int64_t elements) const;
  /// Elements from one k to the next in a stage, and from its start.
  int64_t strideOf(const Panel &panel) const;
  int64_t startOf(const Panel &panel) const;

  const KernelEntry &entry;
  const FmaLayout &layout;
  const int64_t blocks;
  const int64_t mostNumbers; ///< of the block's memory
  const BlockThreads &threads;
  const bool isFused;

  BlockThreads::Panels block;
  Value slice;       ///< of k (i32); null for one
  Value row, column; ///< of the tile, the thread's first ones (i32)
};

} // namespace sinter::compiler
