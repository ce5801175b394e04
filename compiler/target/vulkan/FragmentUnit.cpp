/// FragmentUnit: which products, and in what tiles.
#include "compiler/target/vulkan/FragmentUnit.h"

#include "compiler/target/ProductTiles.h"
#include "compiler/target/vulkan/FragmentKernel.h"

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

  std::optional<Tile> tileOf(const Product &product) const override {
    bool isHalf = product.element.isF16() || product.element.isBF16();
    if (!isHalf || product.isOrdered || constantOr(product.depth, 1) == 0)
      return std::nullopt;
    int64_t parts = constantOr(product.parts, 1);
    const FragmentLayout *found = nullptr;
    for (const FragmentLayout &layout : fragmentLayouts()) {
      if (!fits(layout))
        continue;
      found = &layout;
      if (tilesOf(product, layout.rows, layout.columns, parts) >= enoughTiles)
        break;
    }
    if (!found)
      return std::nullopt;
    Tile tile;
    tile.layout = unsigned(found - fragmentLayouts().data());
    tile.rows = found->rows;
    tile.columns = found->columns;
    tile.chunks = found->subgroups();
    tile.parts = product.parts;
    tile.depth = product.depthOfPart;
    return tile;
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
