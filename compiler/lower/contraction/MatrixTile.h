/// MatrixTile: the matrix leaf for vector machines. Sums a tile of rows x
/// vectors in registers and calls the sinks on its fragments.
#pragma once

#include "compiler/lower/contraction/MatrixCopy.h"
#include "compiler/lower/kernel/Sinks.h"

namespace sinter::compiler {

class MatrixTile {
public:
  /// A part of the result: rows [firstRow, endRow) and columns [firstColumn,
  /// endColumn), which start at multiples of the tile.
  struct Part {
    Value firstRow, endRow, firstColumn, endColumn;
    /// Of k, where the tile splits it.
    DepthRange depth;
  };

  /// Sums of whole rows, from `firstRow` on, that are kept in the frame.
  struct KeptSums {
    Value buffer, firstRow;
    int64_t stride = 0; ///< elements from one row to the next
  };

  /// `wholeRight` is the copy of the right operand where there is one of all
  /// of it, else null.
  MatrixTile(Emission &emission, ir::ContractionOpInterface op,
             const TileShape &tile, llvm::ArrayRef<Sink> sinks,
             llvm::SmallVector<Coord> batch, Value wholeRight,
             Value batchNumber);

  /// Where sums of a part of k go: a buffer of the accumulator's type, and the
  /// place of the batch's first element there.
  struct PartialSums {
    Value buffer, start;
  };

  /// Computes and stores a part, at most tile.rowBlock x tile.columnBlock; or,
  /// where the tile says so, keeps its sums.
  void compute(const Part &part);
  /// Stores the sums of a part's range of k, and nothing else.
  void computePartial(const Part &part, const PartialSums &to);
  KeptSums keptSums() const { return {sums, part.firstRow, tile.sumsStride()}; }

private:
  using Values = Emission::Values;

  void computeAtOnce();
  /// Sums and finishes a tile in the target's matrix unit.
  void computeInUnit(Value row, Value isFirst, Value isLast);
  Value placeOfInput(Value row, Value k);
  /// The sums wait in the frame between blocks of depth.
  void computeInDepthBlocks();
  /// Calls `emit` with each panel of the part as the current one.
  void eachPanel(llvm::function_ref<void()> emit);
  void eachTile(llvm::function_ref<void(Value row)> emit);
  void eachTileOfImage(llvm::function_ref<void(Value row)> emit);
  void beginPanel(Value column, unsigned vectors, Value valid);
  /// Makes a depth range of the operands ready to be read.
  void enterDepth(const DepthRange &range);
  void copyImage();
  void copyRightPanel();
  /// What shifted rows sum up too much in the panel, where the tile shifts.
  void findSurplus();
  Values withoutSurplus(const Values &carried);

  int64_t elementsOfLine(int64_t bytes) const;
  void prefetchPanel(Value row);
  /// Of the copy of all of the right operand, what follows after `k`.
  void prefetchRight(Value k);
  /// Inputs of the result's shape that finishing a tile reads; where its sums
  /// are kept, what whoever finishes the rows reads and writes.
  void findFinishing();
  void addFinishing(unsigned number, Value tensor, bool isWritten);
  void prefetchFinishing(Value row);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);

  Values zeros();
  /// The sums `carried` with the products of the current depth range added.
  Values accumulate(Value row, const Values &carried);
  Values accumulateRuns(Value row, const Values &carried);
  Values accumulateRange(Value row, const DepthRange &span, Values carried,
                         int64_t steps, bool isWhole);
  Values addSquares(Value row, Value k, int64_t step, Values sums);
  void addProducts(Value row, Value k, unsigned first,
                   llvm::ArrayRef<Value> right, Values &sums);
  Value leftAt(Value row, unsigned r, Value k);
  Value rightAt(unsigned vector, Value k);
  /// The copy of the right operand that is read, and where.
  std::pair<Value, Value> placeOfRight(unsigned vector, Value k);
  /// Keeps what the depth has summed up, or stores what is made of it.
  void complete(Value row, const Values &sums);
  void finishTile(Value row, const Values &sums);
  void storePartial(Value row, const Values &sums);
  Values loadSums(Value row);
  void saveSums(Value row, const Values &sums);
  Value placeOfSums(Value row, unsigned r, unsigned vector);
  Value rowOf(Value row, unsigned r);
  Coord columnOf(unsigned vector);
  Lanes lanesOf(unsigned vector);

  Emission &emission;
  MatrixAccess access;
  const TileShape &tile;
  llvm::ArrayRef<Sink> sinks;
  MatrixCopier copier;
  Shape shape;
  mlir::AffineExpr depth;
  bool clampsRows = true;
  struct Finishing {
    unsigned buffer = 0; ///< its number among the kernel's
    int64_t bytes = 0;   ///< of an element
    bool isWritten = false;
  };
  llvm::SmallVector<Finishing> finishing;
  Value wholeRight, batchNumber;
  Part part;
  std::optional<PartialSums> partial;
  DepthRange range;
  Value column;
  unsigned vectors = 0; ///< of the panel
  unsigned rows = 0;    ///< of the tile that is computed
  llvm::SmallVector<Value> masks;
  Values surplus; ///< of each vector of the panel in the range; else empty
  Value left;     ///< the copied rows of the left operand, or lines of an image
  Value line, position; ///< of windows, from the part's first; of the tile
  Value lineStart; ///< where a window's run stands in `left`, less its first k
  Value right;     ///< the copied panel of the right operand
  Value sums;
};

} // namespace sinter::compiler
