/// The numbers of a card choose tiles, and never the order of sums.
#include "compiler/target/MachineModel.h"
#include "compiler/target/Target.h"
#include "compiler/target/simt/FmaLayout.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

using testing::HasSubstr;

TEST(MachineModel, SaysWhatDiffersFromTheUsualCard) {
  auto own = [](const char *name) {
    Result<std::shared_ptr<const Target>> target = makeTarget(name);
    EXPECT_TRUE(target) << name;
    return target ? (*target)->machines().own : MachineModel();
  };
  MachineModel usual = own("cuda:sm_90");
  EXPECT_EQ(usual, measuredMachine());
  MachineModel card = own("cuda:sm_90{multiprocessors=114+memory_bytes=1690}");
  EXPECT_EQ(card.multiprocessors, 114);
  EXPECT_EQ(card.memoryBytes, 1690);
  EXPECT_EQ(card.launchCycles, usual.launchCycles);
  EXPECT_EQ(own("cuda").multiprocessors, 108);
  EXPECT_EQ(own("cuda").memoryBytes, 1446);
  EXPECT_EQ(own("cuda:sm_103").wideOperations, 2);
  MachineModel small = own("cuda:sm_80{registers=32768+threads=1536}");
  EXPECT_EQ(small.registers, 32768);
  EXPECT_EQ(small.threads, 1536);
  EXPECT_EQ(small.sharedBytes, 99 << 10);
  EXPECT_EQ(own("cuda:sm_80{shared_bytes=166912}").sharedBytes, 166912);
  EXPECT_EQ(own("cpu:x86-64-v4"), coreMachine());
  EXPECT_EQ(own("cpu:aarch64"), coreMachine());
  EXPECT_EQ(own("cpu:x86-64-v3").level2Bytes, 512 << 10);
}

TEST(MachineModel, BlocksShareAMultiprocessorsMemory) {
  MachineModel hopper = measuredMachine();
  EXPECT_EQ(hopper.sharedBytesOf(1), 227 << 10);
  EXPECT_EQ(hopper.sharedBytesOf(2), 113 << 10);
}

TEST(MachineModel, SaysHowLongThingsTake) {
  MachineModel machine{.multiprocessors = 10,
                       .clockMegahertz = 1000,
                       .operations = 100,
                       .wideOperations = 50,
                       .memoryBytes = 400,
                       .launchCycles = 2500};
  EXPECT_DOUBLE_EQ(machine.microsecondsOfOperations(1e6, 32), 1);
  EXPECT_DOUBLE_EQ(machine.microsecondsOfOperations(1e6, 16), 1);
  EXPECT_DOUBLE_EQ(machine.microsecondsOfOperations(1e6, 64), 2);
  EXPECT_DOUBLE_EQ(machine.microsecondsOfBytes(1e6), 2.5);
  EXPECT_DOUBLE_EQ(machine.launchMicroseconds(), 2.5);
}

TEST(MachineModel, ErrorsNameTheField) {
  constexpr std::pair<const char *, const char *> wrong[] = {
      {"cuda:sm_90{processors=114}", "there is no 'processors'"},
      {"cuda:sm_90{multiprocessors=0}", "'0' of multiprocessors"},
      {"cuda:sm_90{multiprocessors=-3}", "'-3' of multiprocessors"},
      {"cuda:sm_90{multiprocessors}", "'' of multiprocessors"},
      {"cuda:sm_90{multiprocessors=9999999999999999}", "is too large"},
      {"cuda:sm_90{threads=99999999999999999999}", "no positive number"},
      {"cuda:sm_90{registers=0}", "'0' of registers"},
      {"cuda:sm_90{shared_bytes=1}", "'1' of shared_bytes is less"},
      {"cuda:sm_90{line_bytes=1}", "'1' of line_bytes: every card"},
      {"cuda:sm_90{level2_bytes=1}", "there is no 'level2_bytes'"},
      {"cuda:sm_80{matrix_operations=1}", "there is no 'matrix_operations'"},
      {"cuda:sm_90{}", "there is no ''"},
      {"cuda:sm_90{multiprocessors=114", "memory_bytes"},
      {"cuda:sm_91", "sm_100"},
      {"cuda:{multiprocessors=20}", "is unknown"},
      {"cuda{multiprocessors=20}", "is unknown"}};
  for (auto [name, why] : wrong) {
    auto target = makeTarget(name);
    ASSERT_FALSE(target) << name;
    EXPECT_THAT(target.error().message, HasSubstr(why)) << name;
  }
}

// Later cards run what is made for Hopper, but for its own instructions.
TEST(MachineModel, CardsBeyondHopperHaveTargets) {
  for (const char *name : {"cuda:sm_100", "cuda:sm_103"}) {
    auto target = makeTarget(name);
    ASSERT_TRUE(target) << name;
    EXPECT_EQ((*target)->requirements(), "sm_90") << name;
  }
  EXPECT_EQ((*makeTarget("cuda:sm_90"))->requirements(), "sm_90a");
}

/// Products whose sums can be cut in several ways.
std::vector<BlockUnit::Product> products(mlir::MLIRContext &context) {
  std::vector<BlockUnit::Product> all;
  auto number = [&](int64_t value) {
    return mlir::getAffineConstantExpr(value, &context);
  };
  mlir::Type elements[] = {mlir::BFloat16Type::get(&context),
                           mlir::Float32Type::get(&context)};
  for (mlir::Type element : elements)
    for (int64_t rows : {1, 64, 129, 1000, 4096})
      for (int64_t columns : {16, 64, 1000, 4096})
        for (int64_t depth : {0, 64, 1000, 4096, 200704})
          for (bool isOrdered : {false, true}) {
            BlockUnit::Product product;
            product.element = element;
            product.isPlain = true;
            product.rows = rows;
            product.columns = columns;
            product.batches = 1;
            product.depth = depth > 0 ? number(depth)
                                      : mlir::getAffineSymbolExpr(0, &context);
            product.sizes = {number(rows), number(columns), number(1)};
            product.cutsDepth = !isOrdered;
            product.isOrdered = isOrdered;
            all.push_back(product);
          }
  return all;
}

int64_t slicesOf(const BlockUnit::Tile &tile) {
  return llvm::StringRef(tile.name).starts_with("fma")
             ? fmaLayouts()[tile.layout].slices
             : 1;
}

TEST(MachineModel, NumbersOfACardNeverChangeTheOrderOfSums) {
  mlir::MLIRContext context;
  constexpr std::pair<const char *, const char *> pairs[] = {
      {"cuda:sm_90", "cuda:sm_90{multiprocessors=60+memory_bytes=500}"},
      {"cuda:sm_90", "cuda:sm_90{multiprocessors=1000+launch_cycles=1}"},
      {"cuda:sm_90", "cuda:sm_90{matrix_operations=64+schedulers=1}"},
      {"cuda:sm_90", "cuda:sm_90{cache_read_bytes=1+latency_cycles=9000}"},
      {"cuda:sm_80", "cuda:sm_80{multiprocessors=7}"}};
  for (auto [usualName, cardName] : pairs) {
    auto usual = *makeTarget(usualName), card = *makeTarget(cardName);
    int64_t different = 0;
    for (const BlockUnit::Product &product : products(context))
      for (auto [a, b] :
           llvm::zip_equal(usual->blockUnits(), card->blockUnits())) {
        EXPECT_EQ(a->sizesOf(product), b->sizesOf(product));
        auto ranges = a->rangesFor(product), others = b->rangesFor(product);
        ASSERT_EQ(ranges.size(), others.size());
        for (auto [one, other] : llvm::zip_equal(ranges, others)) {
          EXPECT_EQ(one.holds, other.holds);
          const BlockUnit::Tile &first = one.tiles.front();
          const BlockUnit::Tile &second = other.tiles.front();
          EXPECT_EQ(first.parts, second.parts) << first.name << second.name;
          EXPECT_EQ(first.depth, second.depth) << first.name << second.name;
          EXPECT_EQ(slicesOf(first), slicesOf(second));
          different += first.name != second.name;
        }
      }
    EXPECT_GT(different, 0) << cardName; // the numbers do choose
  }
}

// Tiles are there, whatever a card is said to be.
TEST(MachineModel, AnyNumberLeavesTiles) {
  mlir::MLIRContext context;
  auto usual = *makeTarget("cuda:sm_90");
  const std::vector<BlockUnit::Product> all = products(context);
  for (const MachineField &field : machineFields())
    for (int64_t number : {int64_t{1}, int64_t{1} << 30}) {
      std::string name = "cuda:sm_90{" + std::string(field.name) + "=" +
                         std::to_string(number);
      auto card = makeTarget(name + "}");
      if (!card) {
        EXPECT_THAT(card.error().message, HasSubstr(field.name));
        continue;
      }
      for (const BlockUnit::Product &product :
           llvm::ArrayRef(all).take_back(40))
        for (auto [a, b] :
             llvm::zip_equal(usual->blockUnits(), (*card)->blockUnits()))
          EXPECT_EQ(a->rangesFor(product).size(), b->rangesFor(product).size())
              << name;
    }
}

} // namespace
} // namespace sinter::compiler
