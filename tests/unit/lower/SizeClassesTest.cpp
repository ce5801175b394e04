/// Functions of classes of sizes, as expressions of a size.
#include "compiler/target/SizeClasses.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

using mlir::AffineExpr;

class SizeClassesTest : public testing::Test {
protected:
  AffineExpr number(int64_t value) {
    return mlir::getAffineConstantExpr(value, &context);
  }
  AffineExpr symbol() { return mlir::getAffineSymbolExpr(0, &context); }
  int64_t at(AffineExpr expr, int64_t size) {
    auto value = mlir::dyn_cast<mlir::AffineConstantExpr>(
        expr.replaceSymbols({number(size)}));
    return value ? value.getValue() : -1;
  }

  mlir::MLIRContext context;
};

TEST_F(SizeClassesTest, StepsHoldFromTheirSizeOn) {
  AffineExpr value =
      valueAt(symbol(), {{0, number(5)}, {10, number(2)}, {100, number(9)}});
  for (auto [size, expected] : {std::pair<int64_t, int64_t>{0, 5},
                                {9, 5},
                                {10, 2},
                                {99, 2},
                                {100, 9},
                                {1 << 30, 9}})
    EXPECT_EQ(at(value, size), expected) << size;
}

// Whoever knows a size finds the class that the expression finds.
TEST_F(SizeClassesTest, KnownSizesAreInTheClassThatALaunchFinds) {
  auto name = [&](int64_t name) { return number(name); };
  for (unsigned digits : {1, 2, 4})
    for (bool areAbove : {false, true}) {
      SizeClasses::Names names{8, 4096, digits, areAbove};
      SizeClasses any(symbol(), names, 1, 4096);
      EXPECT_EQ(any.all().front(), 8);
      EXPECT_EQ(any.all().back(), 4096);
      AffineExpr value = any.valueOf(name);
      for (int64_t size = 0; size < 5000; ++size) {
        SizeClasses one(number(size), names, 1, 1);
        ASSERT_EQ(one.all().size(), 1u);
        ASSERT_EQ(at(value, size), one.all().front()) << size;
      }
    }
}

TEST_F(SizeClassesTest, NamesAreBelowOrAbove) {
  auto nameOf = [&](int64_t size, bool areAbove) {
    SizeClasses::Names names{1, 4096, 2, areAbove};
    return SizeClasses(number(size), names, 1, 1).all().front();
  };
  EXPECT_EQ(nameOf(1000, false), 768);
  EXPECT_EQ(nameOf(1000, true), 1024);
  EXPECT_EQ(nameOf(1024, true), 1024);
  EXPECT_EQ(nameOf(1025, true), 1536);
}

// Of multiples, and of what is known to be short, there are fewer.
TEST_F(SizeClassesTest, ThereAreNoClassesOutsideOfWhatIsKnown) {
  AffineExpr size = symbol() * 700;
  EXPECT_EQ(leastOf(size), 700);
  SizeClasses classes(size, {8, 4096, 2, false}, leastOf(size), 2000);
  EXPECT_EQ(llvm::to_vector(classes.all()),
            (llvm::SmallVector<int64_t>{512, 768, 1024, 1536}));
}

} // namespace
} // namespace sinter::compiler
