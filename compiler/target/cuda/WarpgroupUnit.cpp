/// WarpgroupUnit: which products, and in what tiles.
#include "compiler/target/cuda/WarpgroupUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/cuda/WarpgroupKernel.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Below it a stage is mostly empty.
constexpr int64_t leastDepth = 64;
constexpr int64_t multiprocessors = 132;
// Of k, where tiles are too few for all multiprocessors.
constexpr int64_t mostParts = 16, leastDepthOfPart = 512;

// A tile with how k would be cut for it.
struct Cut {
  BlockUnit::Tile tile;
  int64_t parts = 1, depth = 0;
};

int64_t tilesOf(const BlockUnit::Product &product, const Cut &cut) {
  return tilesOf(product, cut.tile.rows, cut.tile.columns, cut.parts);
}

// All tiles that fall to a multiprocessor, in cycles of it, as measured on an
// H200 over shapes from 512 x 512 x 512 to 8192 x 8192 x 8192 and of few rows.
// Where two blocks share it, one multiplies while the other one finishes.
double cyclesOf(const BlockUnit::Product &product, const Cut &cut) {
  const BlockUnit::Tile &tile = cut.tile;
  constexpr double products = 2048; // of a cycle
  constexpr double bytesOfCache = 60, bytesOfMemory = 2400;
  constexpr double latency = 2400, launch = 4000;
  constexpr double finishedElements = 8;
  const WarpgroupLayout layout(tile);
  int64_t rows = sizeOr(product.rows, manyRows);
  int64_t batches = sizeOr(product.batches, 1);
  int64_t turns = llvm::divideCeil(tilesOf(product, cut), multiprocessors);
  int64_t atOnce = std::clamp<int64_t>(turns, 1, layout.blocks);

  double elements = double(tile.rows * tile.columns);
  int64_t copied = std::min<int64_t>(tile.rows, llvm::alignTo(rows, 8));
  double bytes = double(copied + tile.columns) * 2 * layout.depth;
  double stage =
      std::max({elements * layout.depth / products, bytes / bytesOfCache,
                latency / double(layout.stages * atOnce)});
  double stages = double(cut.depth) / double(layout.depth);
  double all =
      double(turns) * stages * stage +
      double(llvm::divideCeil(turns, atOnce)) * elements / finishedElements;
  int64_t depth = cast<AffineConstantExpr>(product.depth).getValue();
  double read =
      2 * double(batches) * double(depth) * double(rows + product.columns);
  all = std::max(all, read / bytesOfMemory);
  if (cut.parts == 1)
    return all;
  double sums = double(batches * rows * product.columns * cut.parts);
  return all + launch + 8 * sums / bytesOfMemory;
}

class WarpgroupUnit final : public BlockUnit {
public:
  bool takes(const Matrix &operand, Type element) const override {
    return fitsMap(operand, element);
  }

  std::optional<Tile> tileOf(const Product &product) const override {
    auto depth = dyn_cast<AffineConstantExpr>(product.depth);
    bool fits = product.isPlain && !product.isOrdered &&
                (product.element.isBF16() || product.element.isF16()) &&
                depth && depth.getValue() >= leastDepth && product.columns > 0;
    if (!fits)
      return std::nullopt;
    Tile best;
    double least = 0;
    auto consider = [&](Tile tile, int64_t parts) {
      int64_t step = WarpgroupLayout::depth;
      Cut cut{tile, parts,
              int64_t(llvm::alignTo(
                  llvm::divideCeil(uint64_t(depth.getValue()), parts), step))};
      // Small tiles share a multiprocessor, as soon as there are enough.
      if (tile.rows == WarpgroupLayout::rows &&
          tilesOf(product, cut) > multiprocessors)
        cut.tile.blocks = 2;
      double cycles = cyclesOf(product, cut);
      if (best.rows > 0 && cycles >= least)
        return;
      auto number = [&](int64_t value) {
        return getAffineConstantExpr(value, depth.getContext());
      };
      best = cut.tile;
      best.depth = number(cut.depth);
      if (parts > 1)
        best.parts = number(parts);
      least = cycles;
    };
    constexpr std::pair<int64_t, int64_t> sizes[] = {
        {128, 256}, {128, 192}, {128, 128}, {64, 128}, {64, 64}};
    for (auto [rows, columns] : sizes) {
      Tile tile;
      tile.rows = rows;
      tile.columns = columns;
      consider(tile, 1);
      bool isKnown = product.rows > 0 && product.batches > 0;
      int64_t most = product.cutsDepth && isKnown
                         ? depth.getValue() / leastDepthOfPart
                         : 1;
      for (int64_t parts = 2; parts <= std::min(most, mostParts); ++parts)
        consider(tile, parts);
    }
    return best;
  }

  bool stores(const Matrix &result, Type element) const override {
    return fitsMap(result, element);
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile,
            Client &client) const override {
    WarpgroupKernel(builder, loc, entry, product, tile, client).run();
  }
};

} // namespace

std::unique_ptr<const BlockUnit> makeWarpgroupUnit() {
  return std::make_unique<WarpgroupUnit>();
}

} // namespace sinter::compiler
