/// FmaUnit: which products, and in what tiles.
#include "compiler/target/simt/FmaUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/simt/FmaKernel.h"
#include "compiler/target/simt/FmaSlices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;

namespace sinter::compiler {
namespace {

// Whether all is read and stored as it lies, in vectors: what is computed, and
// each element that is by itself, takes registers, too.
bool isSimple(const BlockUnit::Product &product) {
  return product.isPlain &&
         product.readsLeft.together % FmaLayout::group == 0 &&
         product.readsRight.together % FmaLayout::group == 0 &&
         product.columns % FmaLayout::group == 0;
}

// Those first that take least for all sizes together, of which large ones count
// most.
SmallVector<const FmaLayout *> ranked(ArrayRef<const FmaLayout *> layouts,
                                      ArrayRef<FmaSizes> sizes,
                                      const MachineModel &machine) {
  SmallVector<std::pair<double, const FmaLayout *>> all;
  for (const FmaLayout *layout : layouts) {
    double cycles = 0;
    for (const FmaSizes &each : sizes)
      cycles += cyclesOf(each, *layout, machine);
    all.emplace_back(cycles, layout);
  }
  llvm::stable_sort(all, llvm::less_first());
  return llvm::map_to_vector(all, [](const auto &each) { return each.second; });
}

class FmaUnit final : public BlockUnit {
public:
  explicit FmaUnit(const FmaDevice &device) : device(device) {}

  bool takes(const Matrix &operand, Type) const override {
    return operand.windows.empty();
  }

  SmallVector<Range> rangesFor(const Product &product) const override {
    if (!multiplies(product) || constantOr(product.depth, 1) == 0)
      return {};
    SmallVector<const FmaLayout *> layouts;
    for (const FmaLayout &layout : fmaLayouts())
      if (fits(layout) && (layout.slices == 1 || !product.isOrdered))
        layouts.push_back(&layout);
    SmallVector<Range> ranges;
    for (const FmaSlices &range :
         slicesFor(product, layouts, device.machines.usual))
      ranges.push_back({range.holds, tilesFor(product, range, layouts)});
    return ranges;
  }

  bool stores(const Matrix &, Type) const override { return false; }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile,
            Client &client) const override {
    FmaKernel(builder, loc, entry, product, tile, client, device,
              device.hasFma || !product.isOrdered)
        .run();
  }

private:
  // The fastest with as many slices: these sum in one order. Then those of any
  // number.
  SmallVector<Tile> tilesFor(const Product &product, const FmaSlices &range,
                             ArrayRef<const FmaLayout *> layouts) const {
    SmallVector<const FmaLayout *> all =
        ranked(layouts, range.sizes, device.machines.own);
    auto *first = llvm::find_if(all, [&](const FmaLayout *layout) {
      return layout->slices == range.slices;
    });
    std::rotate(all.begin(), first, first + 1);
    SmallVector<Tile> tiles;
    for (const FmaLayout *layout : ArrayRef(all).take_front(mostTiles))
      tiles.push_back(tileOf(product, *layout));
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

  // Tensor cores take halves in less time, a warp for itself, too.
  bool multiplies(const Product &product) const {
    bool isHalf = product.element.isF16() || product.element.isBF16();
    return product.element.isF32() ||
           (isHalf && device.widensHalves && !product.fitsMatrixUnit);
  }

  bool fits(const FmaLayout &layout) const {
    return layout.threads() % device.threads.warpThreads() == 0 &&
           layout.threads() <= device.mostThreads &&
           layout.numbers(device.mostNumbers) <= device.mostNumbers;
  }

  const FmaDevice device;
};

} // namespace

std::unique_ptr<const BlockUnit> makeFmaUnit(const FmaDevice &device) {
  return std::make_unique<FmaUnit>(device);
}

} // namespace sinter::compiler
