/// WarpgroupUnit: which products, and in what tiles.
#include "compiler/target/cuda/WarpgroupUnit.h"

#include "compiler/target/cuda/WarpgroupKernel.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// Copies start at multiples of 16 bytes (CUDA Driver API,
// cuTensorMapEncodeTiled), and have at most five axes.
constexpr int64_t alignedElements = 8;
constexpr size_t mostAxes = 5;
// Below it a stage is mostly empty.
constexpr int64_t leastDepth = 64;
constexpr int64_t multiprocessors = 132;

bool isAligned(AffineExpr elements) {
  auto number = dyn_cast<AffineConstantExpr>(elements);
  return (number && number.getValue() == 0) ||
         elements.getLargestKnownDivisor() % alignedElements == 0;
}

bool fitsMap(const BlockUnit::Matrix &matrix, Type element) {
  auto isNothing = [](AffineExpr stride) {
    auto number = dyn_cast<AffineConstantExpr>(stride);
    return number && number.getValue() == 0;
  };
  return matrix.extents.size() <= mostAxes && isAligned(matrix.offset) &&
         llvm::all_of(ArrayRef(matrix.strides).drop_front(),
                      [&](AffineExpr stride) {
                        return isAligned(stride) && !isNothing(stride);
                      }) &&
         mapOf(matrix, element, 1, 1);
}

// Cycles of a multiprocessor for all tiles that fall to it. A stage takes as
// long as its products (2048 a cycle) or its copies (64 bytes a
// cycle from the second-level cache), whichever is longer.
double cyclesOf(const BlockUnit::Product &product,
                const BlockUnit::Tile &tile) {
  constexpr int64_t manyRows = 4096;
  int64_t rows = product.rows < 0 ? manyRows : product.rows;
  int64_t batches = product.batches < 0 ? 1 : product.batches;
  int64_t tiles = batches * llvm::divideCeil(rows, tile.rows) *
                  llvm::divideCeil(product.columns, tile.columns);
  int64_t stages =
      cast<AffineConstantExpr>(product.depth.ceilDiv(WarpgroupLayout::depth))
          .getValue();
  double multiplied = double(tile.rows * tile.columns) / 32;
  double copied = double(tile.rows + tile.columns) * 2;
  double finished = 1000 + double(tile.rows * tile.columns) / 16;
  double rounds = double(llvm::divideCeil(tiles, multiprocessors));
  return rounds * (double(stages) * std::max(multiplied, copied) + finished);
}

class WarpgroupUnit final : public BlockUnit {
public:
  std::optional<Tile> tileOf(const Product &product) const override {
    auto depth = dyn_cast<AffineConstantExpr>(product.depth);
    bool fits = (product.element.isBF16() || product.element.isF16()) &&
                depth && depth.getValue() >= leastDepth &&
                product.columns > 0 && fitsMap(product.left, product.element) &&
                fitsMap(product.right, product.element);
    if (!fits)
      return std::nullopt;
    Tile best;
    double least = 0;
    for (Tile tile : {Tile{128, 256}, Tile{128, 192}, Tile{128, 128},
                      Tile{64, 128}, Tile{64, 64}}) {
      double cycles = cyclesOf(product, tile);
      if (best.rows > 0 && cycles >= least)
        continue;
      best = tile;
      least = cycles;
    }
    return best;
  }

  bool stores(const Matrix &result, Type element) const override {
    return fitsMap(result, element);
  }

  void emit(OpBuilder &builder, Location loc, const KernelEntry &entry,
            const Product &product, const Tile &tile, Locate locate,
            Finish finish) const override {
    WarpgroupKernel(builder, loc, entry, product, tile, locate, finish).run();
  }
};

} // namespace

std::unique_ptr<const BlockUnit> makeWarpgroupUnit() {
  return std::make_unique<WarpgroupUnit>();
}

} // namespace sinter::compiler
