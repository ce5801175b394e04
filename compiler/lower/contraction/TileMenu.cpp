/// Larger and smaller blocks beside those that are chosen.
#include "compiler/lower/contraction/TileMenu.h"

#include "compiler/analysis/Access.h"
#include "compiler/lower/contraction/ColumnStatistics.h"
#include "compiler/lower/element/Index.h"
#include "dialects/program/Program.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace sinter::compiler {
namespace {

class TileMenu {
public:
  TileMenu(const Target &target, ir::ContractionOpInterface op,
           NumericsMode numerics)
      : op(op), ofThreads(target.traits().manyTasks) {
    add(chooseTile(target, op, numerics));
    Shape shape = shapeOf(op.getResult());
    rows = constantOf(shape[shape.size() - 2]);
    columns = constantOf(shape.back());
    depth = constantOf(depthOf(op, tiles.front().shape));
  }

  std::vector<NamedTile> run() {
    const TileShape own = tiles.front().shape;
    auto kernel = op->getParentOfType<program::KernelOp>();
    bool isFree =
        !own.inUnit && !own.keepsSums && kernel && !hasColumnStatistics(kernel);
    if (!isFree || rows == 0 || columns == 0 || depth == 0)
      return std::move(tiles);
    if (ofThreads)
      addForThreads(own);
    else
      addForCores(own);
    return std::move(tiles);
  }

private:
  void add(const TileShape &tile) {
    std::string name = nameOf(tile);
    if (llvm::none_of(tiles,
                      [&](const NamedTile &t) { return t.name == name; }))
      tiles.push_back({std::move(name), tile});
  }

  std::string nameOf(const TileShape &tile) const {
    if (ofThreads)
      return llvm::formatv("tile {0}x{1}", tile.rows, tile.columns());
    return llvm::formatv("block {0}x{1} depth {2}", tile.rowBlock,
                         tile.columnBlock, tile.depthBlock);
  }

  // A thread's rows, and vectors of all their columns.
  void addForThreads(const TileShape &own) {
    constexpr unsigned mostRows = 8, mostVectors = 2;
    for (unsigned vectors = mostVectors; vectors > 0; --vectors)
      for (unsigned count = mostRows; count > 1; count /= 2) {
        TileShape tile = own;
        tile.vectors = vectors;
        tile.rows = rows < 0 ? count : unsigned(std::min<int64_t>(count, rows));
        tile.rowBlock = tile.rows;
        tile.columnBlock = tile.columns();
        if (vectors == 1 || columns < 0 || columns > int64_t(tile.lanes))
          add(tile);
      }
  }

  // Twice as much and half of each.
  void addForCores(const TileShape &own) {
    for (bool isLarger : {false, true}) {
      auto scaled = [&](int64_t size, int64_t unit) {
        int64_t other = isLarger ? 2 * size : size / 2;
        return std::max<int64_t>(llvm::alignTo(other, unit), unit);
      };
      TileShape tile = own;
      tile.columnBlock = std::min(scaled(own.columnBlock, own.columns()),
                                  endOf(columns, own.columns()));
      add(tile);
      tile = own;
      if (own.image) {
        tile.imageLines = std::min(scaled(own.imageLines, 1), own.image->lines);
        tile.rowBlock = tile.imageLines * own.image->positions;
      } else {
        tile.rowBlock =
            std::min(scaled(own.rowBlock, own.rows), endOf(rows, own.rows));
      }
      add(tile);
      tile = own;
      tile.depthBlock =
          scaled(own.depthBlock, std::max<int64_t>(own.lanes, leastDepth));
      bool isCut = own.blocksDepth && !own.image && own.leftRun == 0;
      if (isCut && tile.depthBlock < depth)
        add(tile);
    }
  }

  // None where it is not known.
  static int64_t endOf(int64_t size, int64_t unit) {
    if (size < 0)
      return std::numeric_limits<int64_t>::max();
    return int64_t(llvm::alignTo(uint64_t(size), uint64_t(unit)));
  }

  static constexpr int64_t leastDepth = 8; ///< of a block of k
  ir::ContractionOpInterface op;
  const bool ofThreads;
  std::vector<NamedTile> tiles;
  int64_t rows, columns, depth; ///< -1 where unknown
};

} // namespace

std::vector<NamedTile> tilesFor(const Target &target,
                                ir::ContractionOpInterface op,
                                NumericsMode numerics) {
  return TileMenu(target, op, numerics).run();
}

} // namespace sinter::compiler
