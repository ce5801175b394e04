/// FmaUnit: which products, and in what tiles.
#include "compiler/target/simt/FmaUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/simt/FmaKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace sinter::compiler {
namespace {

constexpr int64_t multiprocessors = 132;
// Where it is not known.
constexpr int64_t longDepth = 1024;

// Slices of k: they are the order of sums, and so a function of what programs
// of known and of unknown sizes know alike, which rows and batches are not, nor
// a k that counts them. Four keep a device busy whatever rows are few; tiles of
// many columns are as fast in two, and what a short k has in fewer. Places of
// windows are enough tiles by themselves (an H200 takes a third longer for a
// 3 x 3 convolution of 8 channels in four slices, twice as long for one of 16).
int64_t slicesOf(const BlockUnit::Product &product) {
  constexpr int64_t shortDepth = 32, middleDepth = 64, manyColumns = 2048;
  if (product.isOrdered || product.isOverWindows)
    return 1;
  if (product.isBatched)
    return 2;
  int64_t depth =
      product.countsRows ? longDepth : constantOr(product.depth, longDepth);
  if (depth <= shortDepth)
    return 1;
  return depth <= middleDepth || product.columns >= manyColumns ? 2 : 4;
}

// Of so many blocks that share a multiprocessor, each with a tile: what their
// warps issue, or read from shared memory, or how long one of them waits for
// what it copies. Fitted to the times of 12 products in 29 layouts on an H200,
// from 64 x 512 x 10 to 1024 x 1024 x 1024: they differ from it by 10 % (root
// mean square), and the layout that it takes is at most 3 % slower than the
// best.
double cyclesTogether(const FmaLayout &layout, double depth, double blocks) {
  constexpr double schedulers = 4;
  constexpr double latency = 500, waiting = 50, start = 1000;
  double sums = double(layout.threadRows * layout.threadColumns);
  double reads = 0.5 * double(layout.threadRows + layout.threadColumns);
  double copied =
      12 * double(layout.rows + layout.columns) / double(layout.threads());
  double own = double(layout.depthOfSlice()) * (sums + reads) +
               double(layout.depth) * copied;
  double warps = blocks * double(layout.warps());
  double lines = double(layout.threadRows + layout.threadColumns);
  double issued = std::max(warps / schedulers * own,
                           warps * double(layout.depthOfSlice()) * lines);
  double round = std::max(issued, std::max(own, latency) + waiting);
  double adding = double(layout.slices - 1) * 3 * sums;
  return std::ceil(depth / double(layout.depth)) * round + adding + start;
}

// All tiles that fall to a multiprocessor, in its cycles.
double cyclesOf(const BlockUnit::Product &product, const FmaLayout &layout) {
  int64_t depth = constantOr(product.depth, longDepth), parts = 1;
  if (product.parts) {
    depth = constantOr(product.depthOfPart, longDepth);
    parts = constantOr(product.parts, multiprocessors);
  }
  int64_t tiles = tilesOf(product, layout.rows, layout.columns, parts);
  int64_t turns = llvm::divideCeil(tiles, multiprocessors);
  int64_t whole = turns / layout.blocks, rest = turns % layout.blocks;
  double cycles = double(whole) *
                  cyclesTogether(layout, double(depth), double(layout.blocks));
  if (rest > 0)
    cycles += cyclesTogether(layout, double(depth), double(rest));
  return cycles;
}

// Whether all is read and stored as it lies, in vectors: what is computed, and
// each element that is by itself, takes registers, too.
bool isSimple(const BlockUnit::Product &product) {
  return product.isPlain &&
         product.readsLeft.together % FmaLayout::group == 0 &&
         product.readsRight.together % FmaLayout::group == 0 &&
         product.columns % FmaLayout::group == 0;
}

class FmaUnit final : public BlockUnit {
public:
  explicit FmaUnit(const FmaDevice &device) : device(device) {}

  bool takes(const Matrix &operand, Type) const override {
    return operand.windows.empty();
  }

  SmallVector<Tile> tilesFor(const Product &product) const override {
    bool isHalf = product.element.isF16() || product.element.isBF16();
    if (!(product.element.isF32() || (isHalf && device.widensHalves)) ||
        constantOr(product.depth, 1) == 0)
      return {};
    if (device.slicesFollowRows && !product.isOrdered)
      return tilesWith(product, std::nullopt);
    SmallVector<Tile> tiles;
    for (int64_t slices = slicesOf(product); slices > 0 && tiles.empty();
         slices /= 2)
      tiles = tilesWith(product, slices);
    return tiles;
  }

  bool stores(const Matrix &, Type) const override { return false; }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile,
            Client &client) const override {
    FmaKernel(builder, loc, entry, product, tile, client, device.threads,
              device.hasFma || !product.isOrdered)
        .run();
  }

private:
  // All with as many slices sum in one order.
  SmallVector<Tile> tilesWith(const Product &product,
                              std::optional<int64_t> slices) const {
    SmallVector<std::pair<double, const FmaLayout *>> layouts;
    for (const FmaLayout &layout : fmaLayouts())
      if (layout.slices == slices.value_or(layout.slices) && fits(layout))
        layouts.emplace_back(cyclesOf(product, layout), &layout);
    llvm::stable_sort(layouts, llvm::less_first());
    SmallVector<Tile> tiles;
    for (auto [cycles, layout] : ArrayRef(layouts).take_front(mostTiles)) {
      tiles.push_back(tileOf(product, *layout));
      tiles.back().cycles = cycles;
    }
    return tiles;
  }

  Tile tileOf(const Product &product, const FmaLayout &layout) const {
    Tile tile;
    tile.layout = unsigned(&layout - fmaLayouts().data());
    tile.rows = layout.rows;
    tile.columns = layout.columns;
    tile.blocks = layout.blocks;
    if (!isSimple(product))
      tile.blocks = std::max<int64_t>(1, tile.blocks / 2);
    tile.chunks = layout.threads() / device.threads.warpThreads();
    tile.parts = product.parts;
    tile.depth = product.depthOfPart;
    tile.name = llvm::formatv("fma {0}x{1} thread {2}x{3} depth {4}",
                              layout.rows, layout.columns, layout.threadRows,
                              layout.threadColumns, layout.depth);
    if (layout.slices > 1)
      tile.name += llvm::formatv(" slices {0}", layout.slices);
    return tile;
  }

  bool fits(const FmaLayout &layout) const {
    auto own = device.slicesFollowRows ? FmaLayout::Menu::byRows
                                       : FmaLayout::Menu::byColumns;
    return (layout.menu == FmaLayout::Menu::all || layout.menu == own) &&
           layout.threads() % device.threads.warpThreads() == 0 &&
           layout.threads() <= device.mostThreads &&
           layout.numbers() <= device.mostNumbers;
  }

  const FmaDevice device;
};

} // namespace

std::unique_ptr<const BlockUnit> makeFmaUnit(const FmaDevice &device) {
  return std::make_unique<FmaUnit>(device);
}

} // namespace sinter::compiler
