/// MatrixTile: the matrix leaf for vector machines. Sums a tile of rows x
/// vectors in registers and calls the sinks on its fragments.
#pragma once

#include "compiler/lower/Sinks.h"
#include "dialects/sinter/Dialect.h"

namespace sinter::compiler {

/// A register tile.
struct TileShape {
  unsigned rows = 1;
  unsigned vectors = 1;
  unsigned lanes = 4;
  /// The right operand is copied panel by panel: it does not lie in rows, or
  /// costs more than a load, or is large.
  bool packs = false;
  /// Lanes of the copy run along k, because memory does.
  bool packsAlongDepth = false;

  int64_t columns() const { return int64_t(vectors) * lanes; }
};

/// A function of the op's types, shapes and the target only.
TileShape chooseTile(const Target &target, ir::MatmulOp op);

class MatrixTile {
public:
  /// `mostRows` bounds the rows of one call of `rows`.
  MatrixTile(Emission &emission, ir::MatmulOp op, const TileShape &tile,
             llvm::ArrayRef<Sink> sinks, int64_t mostRows,
             llvm::SmallVector<Coord> batch);

  /// Turns to the columns [column, column + vectors * lanes), of which
  /// `valid` exist: all, when it is null.
  void beginPanel(mlir::Value column, unsigned vectors, mlir::Value valid);
  /// Computes and stores rows [first, end) of the panel.
  void rows(mlir::Value first, mlir::Value end);

private:
  using Value = mlir::Value;
  using Values = Emission::Values;
  struct Depth {
    Value begin, end;
  };

  Values zeros();
  /// The sums `carried` with the products of a depth range added.
  Values accumulate(Value row, Depth range, const Values &carried);
  Value leftAt(Value row, Value k);
  Value rightAt(unsigned vector, Value k, Value depthBegin);
  void packPanel(Depth range);
  void packAlongColumns(Depth range);
  void packAlongDepth(Depth range);
  void finishTile(Value row, const Values &sums);
  Value rowOf(Value row, unsigned r);
  Coord columnOf(unsigned vector);
  Lanes lanesOf(unsigned vector);
  Index indexOf(Coord row, Coord column);
  /// As `rows`, the sums waiting in the frame between blocks of depth.
  void rowsInDepthBlocks(Value first, Value end);

  Emission &emission;
  ir::MatmulOp op;
  TileShape tile;
  llvm::ArrayRef<Sink> sinks;
  int64_t mostRows;
  llvm::SmallVector<Coord> batch;
  Shape shape;
  mlir::AffineExpr depth;
  mlir::Type element, accumulator;
  bool clampsRows = true;
  Value column;
  unsigned vectors = 0;
  llvm::SmallVector<Value> masks;
  Value panel; ///< the packed right operand
};

} // namespace sinter::compiler
