/// Row staging: what several passes over a row compute stands in the frame
/// after the first.
#pragma once

#include "compiler/lower/element/Emission.h"
#include "dialects/program/Program.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace sinter::compiler {

/// Decides which values of a kernel's rows are staged, and keeps track of what
/// is known in the row at hand. A pass goes along the row once: one for each
/// reduction, in the order in which they are needed, and one that stores. The
/// first pass that computes a staged value stores it, later ones load it. No
/// bit depends on it.
class RowStaging {
public:
  using Value = mlir::Value;

  /// `row` is a reduction of the kernel; the last `tailRank` dims of its
  /// operand are a row, of which a frame of so many bytes has room for a part.
  RowStaging(program::KernelOp kernel, mlir::Operation *row, unsigned tailRank,
             int64_t frameBytes);

  /// The longest row that is staged, in elements; 0 where nothing is.
  int64_t longest() const { return longestRow; }
  /// From here to `end` the sources of reductions and staged values are this
  /// object's; `lead` are the row's coordinates.
  void begin(Emission &emission, llvm::ArrayRef<Coord> lead);
  void end(Emission &emission);
  /// Computes what the pass that stores needs once a row.
  void prepare(Emission &emission);
  /// Computes what every pass needs once a row, for several rows side by side,
  /// none of them staged: while the lanes of one merge, another is read.
  void computeTogether(Emission &emission,
                       llvm::ArrayRef<llvm::SmallVector<Coord>> leads) const;

private:
  friend class StagedSource;
  friend class PassSource;

  struct Pass {
    mlir::Operation *reduction = nullptr; ///< null: the pass that stores
    llvm::SmallVector<Value> numbers;     ///< one a row, needed beforehand
  };
  struct Staged {
    Value value;
    mlir::Operation *producer = nullptr; ///< of the pass that computes it first
    Value buffer;
    bool hasStore = false, isStored = false;
    /// An element was computed before the pass began: nothing is stored.
    bool isKnownEarlier = false;
  };
  using Seen = llvm::DenseSet<Value>;

  void findReaders();
  void order(Value number, Seen &seen);
  void addPass(mlir::Operation *reduction, llvm::ArrayRef<Value> roots);
  void findNumbers(Value value, Pass &pass, Seen &seen) const;
  void stage(Value value, unsigned pass, Seen &seen);
  double cost(Value value, Seen &seen) const;
  bool isAlongRow(Value value) const;
  Index numberIndex(Emission &emission, llvm::ArrayRef<Coord> lead) const;
  bool isRowIndex(const Index &index) const;
  void run(Emission &emission, mlir::Operation *reduction,
           llvm::function_ref<void()> emit);

  program::KernelOp kernel;
  Shape shape; ///< of what is reduced
  unsigned tailRank;
  Seen afterReduction;
  llvm::SmallVector<Pass> passes;
  llvm::DenseMap<Value, unsigned> firstPass;
  llvm::SmallVector<Staged> staged;
  int64_t longestRow = 0;

  // Of the row at hand.
  llvm::SmallVector<Coord> rowLead;
  llvm::SmallVector<mlir::Operation *> running;
};

} // namespace sinter::compiler
