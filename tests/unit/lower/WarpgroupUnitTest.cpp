/// How Hopper's unit cuts products: a function of what there is at a launch.
#include "compiler/target/cuda/WarpgroupUnit.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

/// rows x k times k x columns, both of which k counts rows of.
BlockUnit::Product productOf(mlir::MLIRContext &context, int64_t rows,
                             int64_t columns, mlir::AffineExpr depth) {
  BlockUnit::Product product;
  product.element = mlir::BFloat16Type::get(&context);
  product.isPlain = true;
  product.rows = rows;
  product.columns = columns;
  product.batches = 1;
  product.depth = depth;
  product.cutsDepth = true;
  return product;
}

std::optional<BlockUnit::Tile> firstTile(const BlockUnit &unit,
                                         const BlockUnit::Product &product) {
  auto ranges = unit.rangesFor(product);
  return ranges.empty() ? std::nullopt
                        : std::optional(ranges.front().tiles.front());
}

TEST(WarpgroupUnit, CutsADepthOfALaunchAsAConstantOne) {
  mlir::MLIRContext context;
  auto unit = makeWarpgroupUnit({measuredMachine(), measuredMachine()});
  auto symbol = mlir::getAffineSymbolExpr(0, &context);
  auto at = [&](mlir::AffineExpr expr, int64_t size) -> int64_t {
    if (!expr)
      return 1;
    auto number = mlir::getAffineConstantExpr(size, &context);
    auto value =
        mlir::dyn_cast<mlir::AffineConstantExpr>(expr.replaceSymbols({number}));
    return value ? value.getValue() : -1;
  };
  constexpr std::pair<int64_t, int64_t> sizes[] = {
      {64, 1024}, {128, 576}, {1000, 520}, {1024, 1024}, {8192, 8192}};
  for (auto [rows, columns] : sizes) {
    auto any = firstTile(*unit, productOf(context, rows, columns, symbol));
    ASSERT_TRUE(any);
    for (int64_t depth :
         {1, 63, 64, 1000, 1023, 1024, 5000, 8192, 65536, 200704, 1 << 20}) {
      auto number = mlir::getAffineConstantExpr(depth, &context);
      auto one = firstTile(*unit, productOf(context, rows, columns, number));
      ASSERT_TRUE(one);
      int64_t parts = at(one->parts, depth);
      EXPECT_EQ(at(any->parts, depth), parts) << rows << ' ' << depth;
      EXPECT_EQ(at(any->depth, depth), at(one->depth, depth))
          << rows << ' ' << depth;
      EXPECT_EQ(at(any->depth, depth) % 64, 0);
      EXPECT_GE(at(any->depth, depth) * parts, depth);
    }
  }
  EXPECT_GT(
      at(firstTile(*unit, productOf(context, 64, 1024, symbol))->parts, 8192),
      1);
  EXPECT_EQ(
      at(firstTile(*unit, productOf(context, 64, 1024, symbol))->parts, 1000),
      1);
}

// Neighbours along k lie at multiples of 16 bytes, which nothing says of a k
// that a launch knows first; and few of them leave a stage almost empty.
TEST(WarpgroupUnit, TakesRowsOfAnyDepth) {
  mlir::MLIRContext context;
  auto unit = makeWarpgroupUnit({measuredMachine(), measuredMachine()});
  auto number = [&](int64_t value) {
    return mlir::getAffineConstantExpr(value, &context);
  };
  auto product = productOf(context, 256, 256, number(8));
  EXPECT_TRUE(firstTile(*unit, product));
  product.left.alongDepth = true;
  EXPECT_FALSE(firstTile(*unit, product));
  product.depth = number(16);
  EXPECT_TRUE(firstTile(*unit, product));
  product.depth = mlir::getAffineSymbolExpr(0, &context);
  EXPECT_FALSE(firstTile(*unit, product));
}

// A box of some columns is stored whole, so that a narrower tile has them all.
TEST(WarpgroupUnit, HasNarrowTilesForFewColumns) {
  mlir::MLIRContext context;
  auto unit = makeWarpgroupUnit({measuredMachine(), measuredMachine()});
  for (int64_t depth : {16, 1072})
    for (int64_t columns : {5, 12, 16, 17, 20, 24, 33, 64, 520}) {
      auto product = productOf(context, 778909, columns,
                               mlir::getAffineConstantExpr(depth, &context));
      product.cutsDepth = false;
      auto ranges = unit->rangesFor(product);
      ASSERT_EQ(ranges.size(), 1u);
      for (const BlockUnit::Tile &tile : ranges.front().tiles)
        EXPECT_TRUE(tile.columns >= 64 || tile.columns >= columns)
            << columns << ' ' << tile.name;
      if (depth == 16 && columns <= 32) {
        EXPECT_LE(ranges.front().tiles.front().columns, 32) << columns;
      }
    }
}

} // namespace
} // namespace sinter::compiler
