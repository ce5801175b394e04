/// Column statistics: reductions of a contraction's columns in the
/// contraction's own kernel.
///
/// They take what the kernel stores, part by part, while it is near: first the
/// blocks of the canonical order that lie in a part, then, where parts end
/// inside of blocks, those that lie in two; a last phase merges the states of
/// all blocks in order. No bit differs from those of a kernel of its own.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/kernel/Sinks.h"
#include "compiler/lower/reduce/ColumnSpace.h"

namespace sinter::compiler {

/// Whether the kernel reduces columns of a contraction.
bool hasColumnStatistics(program::KernelOp kernel);

/// Whether the kernel's reductions take columns of tensors of `product`'s shape
/// and read of it only what is stored, and whether everything else is stored
/// where the product is. `why` receives the reason when not.
bool takesColumnsOf(mlir::Value product, program::KernelOp kernel,
                    std::string *why = nullptr);

/// The outputs of a kernel of column statistics that have the product's shape.
llvm::SmallVector<Sink> sinksOfProduct(mlir::Value product,
                                       KernelWriter &writer);

class ColumnStatistics {
public:
  using Value = mlir::Value;

  /// Rows, counted over all batches, and columns of a product's part. Parts
  /// begin at multiples of `columnBlock` columns.
  struct Part {
    Value firstRow, endRow, firstColumn, endColumn;
    int64_t columnBlock;
  };

  /// Announces the workspaces of the states. The sinks are those of the
  /// product's shape.
  ColumnStatistics(KernelWriter &writer, llvm::ArrayRef<Sink> sinks);

  /// Takes the blocks that lie in a part, which has just been stored.
  void takeInside(Emission &emission, const Part &part);
  /// Takes the block that begins in a part and ends after it, if there is one.
  void takeBorder(Emission &emission, const Part &part);
  /// Merges the states of all blocks and stores what is made of them.
  void addMergePhase();

private:
  using Values = Emission::Values;

  /// A reduction; its states stand as state[block][column].
  struct Statistic {
    mlir::Operation *op = nullptr;
    std::unique_ptr<Combiner> combiner;
    llvm::SmallVector<unsigned> workspaces;
  };

  void readStored(Emission &emission);
  void takeBlock(Emission &emission, Value block, const Part &part);
  Values statesOf(Emission &emission, Value begin, Value end, Value column,
                  const Lanes &lanes);
  Values mergeBlocks(Emission &emission, const Statistic &statistic,
                     Value first, Value end, Value column, const Lanes &lanes);
  Values mergeAll(Emission &emission, const Statistic &statistic, Value column,
                  const Lanes &lanes);
  void finishColumns(Emission &emission, Value column, const Lanes &lanes);
  llvm::SmallVector<Value> arraysOf(Emission &emission,
                                    const Statistic &statistic) const;
  Value placeOf(Emission &emission, Value block, Value column) const;
  ColumnSpace::Place place(Emission &emission) const;
  /// Lanes along columns that come in groups of so many.
  unsigned lanesOf(int64_t columns) const;

  KernelWriter &writer;
  llvm::SmallVector<Sink> sinks;
  ColumnSpace space;
  llvm::SmallVector<Statistic, 2> statistics;
};

} // namespace sinter::compiler
