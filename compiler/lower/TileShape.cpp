/// The register tile of a contraction: a function of shapes, types, target.
#include "compiler/lower/Access.h"
#include "compiler/lower/MatrixProduct.h"
#include "compiler/lower/MatrixTile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {

// An accumulator per row and vector, a vector of the right operand per column
// of the tile, and one broadcast element of the left operand must fit.
static unsigned mostRows(unsigned registers, unsigned vectors) {
  return std::clamp<unsigned>((registers - 1 - vectors) / vectors, 1, 14);
}

static unsigned chooseVectors(int64_t rows, int64_t vectors,
                              unsigned registers) {
  if (vectors < 0)
    return 2;
  if (rows > 0 && rows <= 2)
    return std::min<int64_t>(vectors, registers / 4);
  if (rows > 0 && rows <= 4)
    return std::min<int64_t>(vectors, registers / 8);
  if (vectors % 2 == 1 && vectors % 3 == 0 && registers >= 32)
    return 3;
  return std::min<int64_t>(vectors, 2);
}

static unsigned chooseRows(int64_t rows, unsigned most) {
  if (rows < 0)
    return std::min(most, 8u);
  if (rows <= most)
    return std::max<int64_t>(rows, 1);
  for (unsigned divisor = most; divisor > most / 2; --divisor)
    if (rows % divisor == 0)
      return divisor;
  most = std::min(most, 8u);
  int64_t tiles = llvm::divideCeil(rows, most);
  return llvm::divideCeil(rows, tiles);
}

TileShape chooseTile(const Target &target, ir::MatmulOp op) {
  Shape shape = shapeOf(op.getResult()), right = shapeOf(op.getRhs());
  unsigned rank = shape.size();
  int64_t rows = constantOf(shape[rank - 2]);
  int64_t columns = constantOf(shape[rank - 1]);
  int64_t depth = constantOf(right[rank - 2]);
  Type accumulator = accumulatorType(elementOf(op.getResult()));

  TileShape tile;
  tile.lanes = target.lanes();
  if (accumulator.getIntOrFloatBitWidth() == 64)
    tile.lanes = std::max(2u, tile.lanes / 2);
  while (columns >= 0 && tile.lanes > 4 && columns <= tile.lanes / 2)
    tile.lanes /= 2;
  int64_t vectors =
      columns < 0 ? -1
                  : std::max<int64_t>(1, llvm::divideCeil(columns, tile.lanes));
  unsigned registers = target.vectorRegisters();
  tile.vectors = chooseVectors(rows, vectors, registers);
  tile.rows = chooseRows(rows, mostRows(registers, tile.vectors));

  bool isReused = rows < 0 || rows > int64_t(tile.rows);
  bool inRows = runsAlong(op.getRhs(), rank - 1);
  bool isLarge =
      rows >= 64 && columns > 0 && depth > 0 && columns * depth >= 1 << 18;
  tile.packs = !inRows || (isReused && isComputed(op.getRhs())) || isLarge;
  tile.packsAlongDepth = !inRows && runsAlong(op.getRhs(), rank - 2);
  return tile;
}

} // namespace sinter::compiler
