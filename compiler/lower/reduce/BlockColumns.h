/// BlockColumns: reductions of columns of the rows that blocks of threads work
/// on. A block takes the rows of one block of the canonical order after each
/// other; a phase of its own merges the states of all blocks in order.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/reduce/ColumnSpace.h"

namespace sinter::compiler {

class BlockColumns {
public:
  using Value = mlir::Value;
  using Values = Emission::Values;

  /// `onlyColumns`: whether every output has an element for each column, and
  /// is stored here, also one that is made of no reduction.
  BlockColumns(KernelWriter &writer, mlir::AffineExpr rows, bool onlyColumns)
      : writer(writer), rows(rows), onlyColumns(onlyColumns) {}

  /// A reduction, and the workspace of its states, state[block][column], where
  /// that has been announced.
  void add(mlir::Operation *op, std::shared_ptr<Combiner> combiner,
           unsigned workspace = 0);
  bool empty() const { return statistics.empty(); }
  size_t count() const { return statistics.size(); }
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
  /// Whether blocks of threads can merge states.
  bool canMerge() const;
  /// Merges the states of all blocks, and stores what is made of them.
  void addMergePhase() const;
  /// The same of rows that are read there, of which there are few.
  void addRowsPhase(const ColumnSpace &space) const;

  struct Statistic {
    mlir::Operation *op = nullptr;
    std::shared_ptr<Combiner> combiner;
    unsigned workspace = 0;
  };

private:
  mlir::AffineExpr width() const;
  void finish(Emission &emission, Value column,
              llvm::ArrayRef<Value> totals) const;

  KernelWriter &writer;
  mlir::AffineExpr rows;
  bool onlyColumns;
  llvm::SmallVector<Statistic, 2> statistics;
};

} // namespace sinter::compiler
