/// What threads share of a product's k: the order of its sums.
#include "compiler/target/Target.h"
#include "compiler/target/simt/FmaLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <limits>
#include <set>

namespace sinter::compiler {
namespace {

using mlir::AffineExpr;
using Ranges = llvm::SmallVector<BlockUnit::Range>;

/// A product of f32.
struct Problem {
  int64_t rows, columns, depth;
  int64_t batches = 1;
};

/// Which of a problem's sizes a launch knows first.
struct Unknown {
  bool rows = false, columns = false, depth = false, batches = false;
};

class Unit {
public:
  explicit Unit(const char *name) : target(*makeTarget(name)) {}

  AffineExpr number(int64_t value) {
    return mlir::getAffineConstantExpr(value, &context);
  }

  BlockUnit::Product productOf(const Problem &problem, Unknown unknown) {
    auto sizeOf = [&](bool isUnknown, int64_t size, unsigned symbol) {
      return isUnknown ? mlir::getAffineSymbolExpr(symbol, &context)
                       : number(size);
    };
    BlockUnit::Product product;
    product.element = mlir::Float32Type::get(&context);
    product.rows = unknown.rows ? -1 : problem.rows;
    product.columns = unknown.columns ? -1 : problem.columns;
    product.batches = unknown.batches ? -1 : problem.batches;
    product.sizes = {sizeOf(unknown.rows, problem.rows, 0),
                     sizeOf(unknown.columns, problem.columns, 1),
                     sizeOf(unknown.batches, problem.batches, 3)};
    product.depth = sizeOf(unknown.depth, problem.depth, 2);
    product.isBatched = problem.batches > 1 || unknown.batches;
    return product;
  }

  /// Of a weight's gradient, which has k in parts where results are few.
  BlockUnit::Product gradientOf(const Problem &problem, Unknown unknown) {
    BlockUnit::Product product = productOf(problem, unknown);
    constexpr int64_t sums = 1 << 20, shortest = 256;
    int64_t results = problem.rows * problem.columns;
    product.mostParts = (sums + results - 1) / results;
    product.depthOfPart =
        product.depth.ceilDiv(product.mostParts * shortest) * shortest;
    product.parts = product.depth.ceilDiv(product.depthOfPart);
    return product;
  }

  Ranges rangesFor(const BlockUnit::Product &product) {
    for (const auto &unit : target->blockUnits())
      if (Ranges ranges = unit->rangesFor(product); !ranges.empty())
        return ranges;
    ADD_FAILURE() << "no unit takes it";
    return {};
  }

  /// The tile of a product of known sizes.
  BlockUnit::Tile tileOf(const BlockUnit::Product &product) {
    Ranges ranges = rangesFor(product);
    EXPECT_EQ(ranges.size(), 1u);
    EXPECT_FALSE(ranges.front().holds);
    return ranges.front().tiles.front();
  }

  /// Of the range that a launch with these sizes finds, and of no other one.
  int64_t slicesAt(const Ranges &ranges, const Problem &problem) {
    int64_t slices = 0;
    for (const BlockUnit::Range &range : ranges) {
      int64_t holds = 1;
      if (range.holds) {
        AffineExpr at = range.holds.replaceSymbols(
            {number(problem.rows), number(problem.columns),
             number(problem.depth), number(problem.batches)});
        holds = mlir::cast<mlir::AffineConstantExpr>(at).getValue();
      }
      EXPECT_TRUE(holds == 0 || (holds == 1 && slices == 0)) << holds;
      if (holds)
        slices = slicesOf(range.tiles.front());
    }
    return slices;
  }

  static int64_t slicesOf(const BlockUnit::Tile &tile) {
    return fmaLayouts()[tile.layout].slices;
  }

private:
  mlir::MLIRContext context;
  std::shared_ptr<const Target> target;
};

const char *const targets[] = {
    "cuda:sm_80",      "cuda:sm_90",       "vulkan:h200",
    "vulkan:lavapipe", "vulkan:minimal13", "vulkan:subgroup64+shared16"};

// About the classes' borders and far from them.
const int64_t sizes[] = {1,    7,    16,   33,   47,   48,    64,    95,   96,
                         100,  191,  192,  255,  256,  384,   784,   1000, 1024,
                         1536, 2047, 2048, 4096, 9000, 43264, 100000};
const int64_t fewSizes[] = {1, 10, 64, 130, 784, 1024, 5000};

std::ostream &operator<<(std::ostream &out, const Problem &problem) {
  return out << problem.batches << " x " << problem.rows << " x "
             << problem.columns << " over " << problem.depth;
}

TEST(FmaUnit, UnknownRowsHaveTheSlicesOfKnownOnes) {
  for (const char *target : targets) {
    SCOPED_TRACE(target);
    Unit unit(target);
    for (int64_t columns : fewSizes)
      for (int64_t depth : fewSizes) {
        Problem problem{0, columns, depth};
        Ranges ranges = unit.rangesFor(unit.productOf(problem, {.rows = true}));
        EXPECT_LE(ranges.size(), 4u);
        for (int64_t rows : sizes) {
          problem.rows = rows;
          EXPECT_EQ(unit.slicesAt(ranges, problem),
                    Unit::slicesOf(unit.tileOf(unit.productOf(problem, {}))))
              << problem;
        }
      }
  }
}

TEST(FmaUnit, UnknownBatchesHaveTheSlicesOfKnownOnes) {
  for (const char *target : targets) {
    SCOPED_TRACE(target);
    Unit unit(target);
    for (int64_t rows : {1, 20, 128, 1000}) {
      Problem problem{rows, 64, 64};
      Ranges batched =
          unit.rangesFor(unit.productOf(problem, {.batches = true}));
      Ranges both = unit.rangesFor(
          unit.productOf(problem, {.rows = true, .batches = true}));
      for (int64_t batches : sizes) {
        problem.batches = batches;
        auto known = unit.productOf(problem, {});
        known.isBatched = true;
        int64_t slices = Unit::slicesOf(unit.tileOf(known));
        EXPECT_EQ(unit.slicesAt(batched, problem), slices) << problem;
        EXPECT_EQ(unit.slicesAt(both, problem), slices) << problem;
      }
    }
  }
}

// Scores of attention have as many columns as rows, and what they weigh a k.
TEST(FmaUnit, UnknownColumnsAndDepthsHaveTheSlicesOfKnownOnes) {
  for (const char *target : targets) {
    SCOPED_TRACE(target);
    Unit unit(target);
    Unknown ofScores{.rows = true, .columns = true, .batches = true};
    Unknown ofSums{.rows = true, .depth = true, .batches = true};
    Ranges scores = unit.rangesFor(unit.productOf({0, 0, 64}, ofScores));
    Ranges sums = unit.rangesFor(unit.productOf({0, 48, 0}, ofSums));
    Unknown ofSquares{.rows = true, .columns = true};
    Ranges squares = unit.rangesFor(unit.productOf({0, 0, 100}, ofSquares));
    for (int64_t size : sizes)
      for (int64_t batches : {2, 3, 12, 96}) {
        Problem problem{size, size, 64, batches};
        EXPECT_EQ(unit.slicesAt(scores, problem),
                  Unit::slicesOf(unit.tileOf(unit.productOf(problem, {}))))
            << problem;
        problem = {size, size + batches, 100};
        EXPECT_EQ(unit.slicesAt(squares, problem),
                  Unit::slicesOf(unit.tileOf(unit.productOf(problem, {}))))
            << problem;
        problem = {size, 48, size, batches};
        EXPECT_EQ(unit.slicesAt(sums, problem),
                  Unit::slicesOf(unit.tileOf(unit.productOf(problem, {}))))
            << problem;
      }
  }
}

TEST(FmaUnit, UnknownPartsHaveTheSlicesOfKnownOnes) {
  for (const char *target : targets) {
    SCOPED_TRACE(target);
    Unit unit(target);
    for (auto [rows, columns] : {std::pair<int64_t, int64_t>{784, 1024},
                                 {1024, 10},
                                 {256, 192},
                                 {72, 16},
                                 {9, 8},
                                 {2048, 2048}}) {
      Problem problem{rows, columns, 0};
      Ranges ranges = unit.rangesFor(unit.gradientOf(problem, {.depth = true}));
      for (int64_t depth : sizes) {
        problem.depth = depth;
        int64_t slices = unit.slicesAt(ranges, problem);
        EXPECT_EQ(slices,
                  Unit::slicesOf(unit.tileOf(unit.gradientOf(problem, {}))))
            << problem;
        // A single part is as good as none.
        if (depth <= 256) {
          auto whole = unit.productOf(problem, {});
          EXPECT_EQ(slices, Unit::slicesOf(unit.tileOf(whole))) << problem;
        }
      }
    }
  }
}

/// Few tiles have slices, and many have none; ordered sums have one.
TEST(FmaUnit, SlicesFollowRows) {
  for (const char *target : {"cuda:sm_90", "vulkan:h200"}) {
    Unit unit(target);
    auto few = unit.productOf({64, 1024, 1024}, {});
    auto many = unit.productOf({4096, 1024, 1024}, {});
    auto any = unit.productOf({0, 1024, 1024}, {.rows = true});
    EXPECT_LT(unit.tileOf(few).rows, unit.tileOf(many).rows);
    EXPECT_GT(Unit::slicesOf(unit.tileOf(few)), 1);
    EXPECT_EQ(Unit::slicesOf(unit.tileOf(many)), 1);
    EXPECT_GT(unit.rangesFor(any).size(), 1u);
    few.isOrdered = any.isOrdered = true;
    EXPECT_EQ(Unit::slicesOf(unit.tileOf(few)), 1);
    EXPECT_EQ(unit.rangesFor(any).size(), 1u);
  }
}

/// Images of any number have many places of windows: of these no other range
/// is possible.
TEST(FmaUnit, SizesThatCannotBeHaveNoRange) {
  Unit unit("cuda:sm_90");
  auto product = unit.productOf({0, 8, 9}, {.rows = true});
  product.sizes.rows = product.sizes.rows * 43264;
  Ranges ranges = unit.rangesFor(product);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_FALSE(ranges.front().holds);
}

/// The tuner has tiles to compare, each by its own name.
TEST(FmaUnit, KnownSizesHaveOtherTiles) {
  Unit unit("cuda:sm_90");
  Ranges ranges = unit.rangesFor(unit.productOf({256, 1024, 784}, {}));
  ASSERT_EQ(ranges.size(), 1u);
  std::set<std::string> names;
  for (const BlockUnit::Tile &tile : ranges.front().tiles)
    names.insert(tile.name);
  EXPECT_EQ(names.size(), BlockUnit::mostTiles);
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
    for (int64_t most :
         {int64_t(4096), int64_t(8192), std::numeric_limits<int64_t>::max()})
      EXPECT_EQ(layout.finishedGroups() % layout.groupsAtOnce(most), 0);
    EXPECT_EQ(layout.groupsAtOnce(std::numeric_limits<int64_t>::max()),
              layout.finishedGroups());
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
