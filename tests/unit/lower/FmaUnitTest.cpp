/// What threads share of a product's k: the order of its sums.
#include "compiler/target/Target.h"
#include "compiler/target/simt/FmaLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <set>

namespace sinter::compiler {
namespace {

using mlir::getAffineConstantExpr;
using mlir::getAffineSymbolExpr;

constexpr int64_t unknown = -1;

/// A product of f32; `isGradient` of a weight's, where k counts rows.
struct Problem {
  int64_t depth, columns;
  bool isGradient = false, isBatched = false, isOrdered = false;
  bool isOverWindows = false;
};

class Slices {
public:
  explicit Slices(const char *name) : target(*makeTarget(name)) {}

  BlockUnit::Tile tileOf(const Problem &problem, int64_t rows,
                         int64_t batches = 1) {
    BlockUnit::Product product;
    product.element = mlir::Float32Type::get(&context);
    product.rows = problem.isGradient ? problem.depth : rows;
    product.columns = problem.columns;
    product.batches = batches;
    int64_t depth = problem.isGradient ? rows : problem.depth;
    product.depth = depth < 0 ? getAffineSymbolExpr(0, &context)
                              : getAffineConstantExpr(depth, &context);
    product.countsRows = problem.isGradient;
    product.isBatched = problem.isBatched;
    product.isOrdered = problem.isOrdered;
    product.isOverWindows = problem.isOverWindows;
    for (const auto &unit : target->blockUnits())
      if (auto tiles = unit->tilesFor(product); !tiles.empty())
        return tiles.front();
    ADD_FAILURE() << "no unit takes it";
    return {};
  }

  int64_t of(const Problem &problem, int64_t rows, int64_t batches = 1) {
    return fmaLayouts()[tileOf(problem, rows, batches).layout].slices;
  }

private:
  mlir::MLIRContext context;
  std::shared_ptr<const Target> target;
};

const std::pair<int64_t, int64_t> sizes[] = {
    {784, 1024}, {1024, 1024}, {1024, 10},   {512, 512},
    {1568, 128}, {128, 10},    {4096, 4096}, {2048, 2048},
    {72, 16},    {9, 8},       {64, 64},     {48, 3000}};
/// Those where slices do not follow rows.
const char *const targets[] = {"vulkan:h200", "vulkan:lavapipe",
                               "vulkan:minimal13"};

TEST(FmaUnit, SlicesDependOnNoRows) {
  for (const char *target : targets) {
    Slices slices(target);
    for (auto [depth, columns] : sizes)
      for (bool isGradient : {false, true}) {
        SCOPED_TRACE(testing::Message() << target << " k " << depth << " n "
                                        << columns << " " << isGradient);
        Problem problem{depth, columns, isGradient};
        int64_t symbolic = slices.of(problem, unknown);
        for (int64_t rows : {1, 16, 64, 128, 256, 1024, 4096, 100000})
          EXPECT_EQ(slices.of(problem, rows), symbolic) << rows;
      }
  }
}

TEST(FmaUnit, SlicesDependOnNoBatches) {
  for (const char *target : targets) {
    Slices slices(target);
    std::set<int64_t> found;
    for (int64_t size : {int64_t(unknown), int64_t(20), int64_t(3000)})
      for (int64_t batches : {int64_t(unknown), int64_t(1), int64_t(64)}) {
        Problem problem{size, size, false, /*isBatched=*/true};
        found.insert(slices.of(problem, size, batches));
      }
    EXPECT_EQ(found.size(), 1u) << target;
  }
}

/// Tiles follow rows all the same, and ordered sums have one slice.
TEST(FmaUnit, TilesDependOnRows) {
  Slices slices("vulkan:h200");
  Problem problem{1024, 1024};
  EXPECT_LT(slices.tileOf(problem, 64).rows, slices.tileOf(problem, 4096).rows);
  EXPECT_GT(slices.of(problem, 64), 1);
  problem.isOrdered = true;
  EXPECT_EQ(slices.of(problem, 64), 1);
}

/// Where they do, few tiles have slices, and many have none.
TEST(FmaUnit, SlicesMayDependOnRows) {
  Slices slices("cuda:sm_90");
  Problem problem{1024, 1024};
  EXPECT_GT(slices.of(problem, 64), 1);
  EXPECT_EQ(slices.of(problem, 4096), 1);
  problem.isOrdered = true;
  EXPECT_EQ(slices.of(problem, 64), 1);
}

/// Places of windows are many.
TEST(FmaUnit, WindowsHaveOneSlice) {
  Problem problem{144, 8};
  problem.isOverWindows = true;
  for (const char *target : targets)
    for (int64_t rows : {unknown, int64_t(100), int64_t(43264)})
      EXPECT_EQ(Slices(target).of(problem, rows), 1) << target;
}

/// Every layout that has a slice for whom sums are exchanged: what it takes of
/// memory is what all of its threads write.
TEST(FmaUnit, LayoutsShareTheirWork) {
  for (const FmaLayout &layout : fmaLayouts()) {
    SCOPED_TRACE(testing::Message() << layout.rows << " x " << layout.columns
                                    << " in " << layout.slices);
    EXPECT_EQ(layout.depthOfSlice() % FmaLayout::run, 0);
    EXPECT_EQ(layout.threadRows % layout.slices, 0);
    EXPECT_EQ(layout.threadsOfSlice() % FmaLayout::warp, 0);
    EXPECT_EQ(layout.finishedGroups() % layout.groupsAtOnce(), 0);
    std::set<int64_t> taken;
    for (int64_t slice = 0; slice < layout.slices; ++slice)
      for (int64_t k = 0; k < layout.depthOfSlice(); ++k)
        taken.insert(slice * FmaLayout::run + layout.placeInStage(k));
    EXPECT_EQ(int64_t(taken.size()), layout.depth);
    EXPECT_EQ(*taken.rbegin(), layout.depth - 1);
  }
}

} // namespace
} // namespace sinter::compiler
