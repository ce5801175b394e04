/// WarpgroupUnit: which products, and in what tiles.
#include "compiler/target/cuda/WarpgroupUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/SizeClasses.h"
#include "compiler/target/cuda/WarpgroupKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Below it a stage is mostly empty.
constexpr int64_t leastDepth = 64;
constexpr int64_t multiprocessors = 132;
// Of k, where tiles are too few for all multiprocessors.
constexpr int64_t mostParts = 16, leastDepthOfPart = 512;
// Of a longer k there are no more parts.
constexpr int64_t mostCutDepth = 1 << 18;

// A tile with how k would be cut for it.
struct Cut {
  BlockUnit::Tile tile;
  int64_t parts = 0, depth = 0;
  double cycles = 0;
};

int64_t tilesOf(const BlockUnit::Product &product, const Cut &cut) {
  return tilesOf(product, cut.tile.rows, cut.tile.columns, cut.parts);
}

// All tiles that fall to a multiprocessor, in cycles of it, as measured on an
// H200 over shapes from 512 x 512 x 512 to 8192 x 8192 x 8192 and of few rows.
// Where two blocks share it, one multiplies while the other one finishes.
double cyclesOf(const BlockUnit::Product &product, int64_t depth,
                const Cut &cut) {
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
  double read =
      2 * double(batches) * double(depth) * double(rows + product.columns);
  all = std::max(all, read / bytesOfMemory);
  if (cut.parts == 1)
    return all;
  double sums = double(batches * rows * product.columns * cut.parts);
  return all + launch + 8 * sums / bytesOfMemory;
}

// Of a product with a k of that length, in as many parts as `least` to `most`,
// the best first.
SmallVector<Cut> cutsOf(const BlockUnit::Product &product, int64_t depth,
                        int64_t least, int64_t most) {
  constexpr std::pair<int64_t, int64_t> sizes[] = {
      {128, 256}, {128, 192}, {128, 128}, {64, 128}, {64, 64}};
  SmallVector<Cut> cuts;
  for (auto [rows, columns] : sizes)
    for (int64_t parts = least; parts <= most; ++parts) {
      Cut cut;
      cut.tile.rows = rows;
      cut.tile.columns = columns;
      cut.parts = parts;
      cut.depth = int64_t(llvm::alignTo(
          llvm::divideCeil(uint64_t(depth), parts), WarpgroupLayout::depth));
      // Small tiles share a multiprocessor, as soon as there are enough.
      if (rows == WarpgroupLayout::rows &&
          tilesOf(product, cut) > multiprocessors)
        cut.tile.blocks = 2;
      cut.cycles = cyclesOf(product, depth, cut);
      cuts.push_back(cut);
    }
  llvm::stable_sort(
      cuts, [](const Cut &a, const Cut &b) { return a.cycles < b.cycles; });
  return cuts;
}

// As many parts are best from that k on.
struct Step {
  int64_t depth, parts;
};

// As many as are best for the power of two below k: a function of k that holds
// for every k, so that one which a launch knows first is cut as a constant one
// is.
SmallVector<Step> stepsOf(const BlockUnit::Product &product) {
  SmallVector<Step> steps{{0, 1}};
  if (!product.cutsDepth || product.rows <= 0 || product.batches <= 0)
    return steps;
  for (int64_t depth = 2 * leastDepthOfPart; depth <= mostCutDepth;
       depth *= 2) {
    int64_t most = std::min(depth / leastDepthOfPart, mostParts);
    int64_t parts = cutsOf(product, depth, 1, most).front().parts;
    if (parts != steps.back().parts)
      steps.push_back({depth, parts});
  }
  return steps;
}

int64_t partsAt(ArrayRef<Step> steps, int64_t depth) {
  while (steps.back().depth > depth)
    steps = steps.drop_back();
  return steps.back().parts;
}

AffineExpr partsAt(ArrayRef<Step> steps, AffineExpr depth) {
  auto values = llvm::map_to_vector(steps, [&](const Step &step) {
    return SizeStep{step.depth,
                    getAffineConstantExpr(step.parts, depth.getContext())};
  });
  return valueAt(depth, values);
}

// Where neighbours of neither operand lie along k, it counts rows of both, and
// may be known no sooner than at a launch. It then chooses nothing.
bool countsRows(const BlockUnit::Product &product) {
  return !product.left.alongDepth && !product.right.alongDepth;
}

bool hasDepth(const BlockUnit::Product &product) {
  if (countsRows(product))
    return constantOr(product.depth, 1) > 0;
  return constantOr(product.depth, 0) >= leastDepth;
}

class WarpgroupUnit final : public BlockUnit {
public:
  bool takes(const Matrix &operand, Type element) const override {
    return fitsMap(operand, element);
  }

  SmallVector<Range> rangesFor(const Product &product) const override {
    bool fits = product.isPlain && !product.isOrdered &&
                (product.element.isBF16() || product.element.isF16()) &&
                hasDepth(product) && product.columns > 0;
    if (!fits)
      return {};
    constexpr int64_t step = WarpgroupLayout::depth;
    SmallVector<Step> steps = stepsOf(product);
    AffineExpr parts = partsAt(steps, product.depth);
    int64_t depth = constantOr(product.depth, manyRows);
    int64_t count = partsAt(steps, depth);
    SmallVector<Tile> tiles;
    SmallVector<Cut> cuts = cutsOf(product, depth, count, count);
    for (const Cut &cut : ArrayRef(cuts).take_front(mostTiles)) {
      Tile &tile = tiles.emplace_back(cut.tile);
      tile.depth = product.depth.ceilDiv(parts).ceilDiv(step) * step;
      if (constantOr(parts, 0) != 1)
        tile.parts = parts;
      tile.name = llvm::formatv("warpgroups {0}x{1}", tile.rows, tile.columns);
    }
    return forAll(std::move(tiles));
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
