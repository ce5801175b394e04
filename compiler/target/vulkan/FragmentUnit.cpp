/// FragmentUnit: which products, and in what tiles.
#include "compiler/target/vulkan/FragmentUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/vulkan/FragmentKernel.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Tiles that keep most devices busy; smaller ones are taken for that.
constexpr int64_t enoughTiles = 128;

class FragmentUnit final : public BlockUnit {
public:
  FragmentUnit(const VulkanProfile &profile, const BlockThreads &threads)
      : profile(profile), threads(threads) {}

  bool takes(const Matrix &operand, Type) const override {
    return operand.windows.empty();
  }

  // The largest of which there are enough, or else the smallest, and then those
  // next to it on the menu. Loops in the place of matrices are for tests, and
  // large ones take a driver minutes.
  SmallVector<Range> rangesFor(const Product &product) const override {
    bool isHalf = product.element.isF16() || product.element.isBF16();
    if (!isHalf || product.isOrdered || constantOr(product.depth, 1) == 0)
      return {};
    int64_t parts = constantOr(product.parts, 1);
    SmallVector<Tile> all;
    int64_t best = 0;
    bool isEnough = false;
    for (const FragmentLayout &layout : fragmentLayouts()) {
      if (!fits(layout))
        continue;
      if (!isEnough)
        best = int64_t(all.size());
      isEnough |=
          tilesOf(product, layout.rows, layout.columns, parts) >= enoughTiles;
      all.push_back(tileOf(product, layout));
    }
    size_t most = profile.emulatesMatrices ? 1 : mostTiles;
    SmallVector<Tile> tiles;
    auto offer = [&](int64_t number) {
      if (number >= 0 && number < int64_t(all.size()) && tiles.size() < most)
        tiles.push_back(all[number]);
    };
    for (int64_t away = 0; away < int64_t(all.size()); ++away) {
      offer(best + away);
      if (away > 0)
        offer(best - away);
    }
    return forAll(std::move(tiles));
  }

  bool stores(const Matrix &, Type) const override { return false; }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile,
            Client &client) const override {
    FragmentKernel(builder, loc, entry, product, tile, client, threads,
                   profile.emulatesMatrices)
        .run();
  }

private:
  static Tile tileOf(const Product &product, const FragmentLayout &layout) {
    Tile tile;
    tile.layout = unsigned(&layout - fragmentLayouts().data());
    tile.rows = layout.rows;
    tile.columns = layout.columns;
    tile.chunks = layout.subgroups();
    tile.parts = product.parts;
    tile.depth = product.depthOfPart;
    tile.name = llvm::formatv("fragments {0}x{1}", layout.rows, layout.columns);
    return tile;
  }

  bool fits(const FragmentLayout &layout) const {
    return layout.bytes() <= int64_t(profile.sharedBytes) &&
           layout.subgroups() * threads.warpThreads() <= threads.mostThreads();
  }

  const VulkanProfile profile;
  const BlockThreads &threads;
};

} // namespace

std::unique_ptr<const BlockUnit> makeFragmentUnit(const VulkanProfile &profile,
                                                  const BlockThreads &threads) {
  return std::make_unique<FragmentUnit>(profile, threads);
}

} // namespace sinter::compiler
