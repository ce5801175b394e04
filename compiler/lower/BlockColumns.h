/// BlockColumns: reductions of columns of the rows that blocks of threads work
/// on. A block takes the rows of one block of the canonical order after each
/// other; a phase of its own merges the states of all blocks in order.
#pragma once

#include "compiler/lower/Combiner.h"
#include "compiler/lower/KernelWriter.h"

namespace sinter::compiler {

class BlockColumns {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;

  BlockColumns(KernelWriter &writer, mlir::AffineExpr rows)
      : writer(writer), rows(rows) {}

  void add(mlir::Operation *op, std::unique_ptr<Combiner> combiner);
  bool empty() const { return statistics.empty(); }
  /// Whether an output is made of the reductions.
  bool makes(Value output) const;
  /// Announces the workspaces of the states.
  void announce();

  /// Blocks of rows.
  mlir::AffineExpr blocks() const;
  /// States of `steps` vectors of columns before the first row of a block, one
  /// reduction after the other.
  Values start(Emission &emission, int64_t steps, unsigned lanes) const;
  /// The states after a row more, of whose elements `elementsOf` gives vectors.
  using ElementsOf = llvm::function_ref<Values(Value tensor)>;
  Values take(Emission &emission, mlir::ValueRange states,
              ElementsOf elementsOf) const;
  /// Keeps the states of a block; its columns begin at `columns`.
  void keep(Emission &emission, Value block, mlir::ValueRange states,
            llvm::ArrayRef<Value> columns) const;
  /// Merges the states of all blocks, and stores what is made of them.
  void addMergePhase();

private:
  struct Statistic {
    mlir::Operation *op = nullptr;
    std::shared_ptr<Combiner> combiner;
    unsigned workspace = 0;
  };

  mlir::AffineExpr width() const;
  Value placeOf(Emission &emission, Value block, Value column) const;
  Value mergeBlocks(Emission &emission, const Statistic &statistic, Value begin,
                    Value end, Value column, const Lanes &lanes) const;
  Value mergeAll(Emission &emission, const Statistic &statistic, Value column,
                 const Lanes &lanes) const;
  void finish(Emission &emission, Value column, const Lanes &lanes) const;

  KernelWriter &writer;
  mlir::AffineExpr rows;
  llvm::SmallVector<Statistic, 2> statistics;
};

} // namespace sinter::compiler
