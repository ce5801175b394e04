/// UnitTile: a tile of a contraction whose products a matrix unit sums.
#pragma once

#include "compiler/lower/contraction/TileShape.h"
#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

class UnitTile {
public:
  using Value = mlir::Value;

  /// Sums in memory, by row and register of columns.
  struct Matrix {
    Value buffer;
    llvm::function_ref<Value(int64_t row, int64_t vector)> placeOf;
    int64_t stride = 0; ///< words from one row to the next
  };
  /// An operand: by its row, or its register of columns, and k.
  struct Operand {
    Value buffer;
    llvm::function_ref<Value(int64_t number, Value k)> placeOf;
    int64_t stride = 0;
  };

  /// `vectors` columns of registers; rows as the tile has.
  UnitTile(Emission &emission, const TileShape &tile, unsigned vectors);

  /// Around all tiles of a part.
  static void begin(Emission &emission);
  static void end(Emission &emission);

  /// sums = products over [begin, end), added to what sums hold unless
  /// `startsAtZero` (i1).
  void multiply(const Operand &left, const Operand &right, Value begin,
                Value end, const Matrix &sums, Value startsAtZero) const;

private:
  unsigned sumOf(unsigned row, unsigned vector) const {
    return row * vectors + vector;
  }

  Emission &emission;
  const TileShape &tile;
  const MatrixUnit &unit;
  unsigned height, vectors; ///< in registers
};

} // namespace sinter::compiler
