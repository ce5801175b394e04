/// What views say of themselves.
#include "dialects/sinter/ViewMap.h"

#include "dialects/sinter/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

class ViewMaps : public testing::Test {
protected:
  ViewMaps() {
    context.loadDialect<ir::SinterDialect>();
    context.allowUnregisteredDialects();
  }

  /// The map of a view of x, and of a number n.
  ir::ViewMap parse(const std::string &input, const std::string &view) {
    module = parseSourceString<ModuleOp>("%x, %n = \"test.given\"() : () -> (" +
                                             input + ", tensor<i64>)\n" +
                                             "%v = sinter." + view,
                                         &context);
    EXPECT_TRUE(module);
    auto map = ir::viewMapOf(&module->getBody()->back());
    EXPECT_TRUE(map);
    return *map;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ViewMaps, AReshapeKeepsTheOrder) {
  auto map =
      parse("tensor<6x4xf32>", "reshape %x {shape = affine_map<() -> (24)>} : "
                               "(tensor<6x4xf32>) -> tensor<24xf32>");
  EXPECT_TRUE(map.keepsLinearOrder);
  EXPECT_TRUE(map.isStrided());
  EXPECT_FALSE(map.permutation());
}

TEST_F(ViewMaps, ATransposeIsAPermutation) {
  auto map = parse("tensor<2x3x4xf32>",
                   "transpose %x {permutation = array<i64: 2, 0, 1>} : "
                   "(tensor<2x3x4xf32>) -> tensor<4x2x3xf32>");
  EXPECT_EQ(map.permutation(), (SmallVector<int64_t>{2, 0, 1}));
  EXPECT_FALSE(map.keepsAxes());
  EXPECT_EQ(map.part().along(0)->axis, 2u);
}

TEST_F(ViewMaps, ABroadcastRepeats) {
  auto map = parse("tensor<3x1xf32>",
                   "broadcast %x {shape = affine_map<() -> (2, 3, 4)>} : "
                   "(tensor<3x1xf32>) -> tensor<2x3x4xf32>");
  EXPECT_TRUE(map.repeats());
  EXPECT_FALSE(map.part().along(0));
  EXPECT_EQ(map.part().along(1)->axis, 0u);
  EXPECT_FALSE(map.part().along(2));
  EXPECT_TRUE(map.repeatsTail(1));
  EXPECT_FALSE(map.repeatsTail(2));
}

TEST_F(ViewMaps, ASliceSelects) {
  auto map = parse("tensor<9x4xf32>",
                   "slice %x {starts = array<i64: 1, 0>, limits = affine_map<()"
                   " -> (8, 4)>, steps = array<i64: 2, 1>} : "
                   "(tensor<9x4xf32>) -> tensor<4x4xf32>");
  EXPECT_TRUE(map.selects());
  EXPECT_TRUE(map.passesTail(map.part(), 1));
  EXPECT_FALSE(map.passesTail(map.part(), 2));
  EXPECT_EQ(map.part().axes[0].terms[0].factor, 2);
}

TEST_F(ViewMaps, AFlipStepsBack) {
  auto map = parse("tensor<9x1xf32>", "flip %x {axes = array<i64: 0, 1>} : "
                                      "(tensor<9x1xf32>) -> tensor<9x1xf32>");
  EXPECT_TRUE(map.isFixed());
  EXPECT_FALSE(map.isStrided());
  EXPECT_TRUE(map.keepsAxes());
  EXPECT_TRUE(map.hasAll(map.part().axes[0]));
  EXPECT_TRUE(map.passes(map.part().axes[1], 1));
}

TEST_F(ViewMaps, APadMasksTheAxesThatItPads) {
  auto map = parse("tensor<3x4xf32>",
                   "pad %x {low = array<i64: 1, 0>, shape = affine_map<() -> "
                   "(9, 4)>, interior = array<i64: 2, 0>, value = 0.5 : f64} : "
                   "(tensor<3x4xf32>) -> tensor<9x4xf32>");
  EXPECT_TRUE(map.pads());
  EXPECT_TRUE(map.part().axes[0].isMasked);
  EXPECT_EQ(map.part().axes[0].spacing, 3);
  EXPECT_EQ(map.part().axes[0].least, -1);
  EXPECT_FALSE(map.part().axes[1].isMasked);
  EXPECT_FALSE(map.isFixed());
}

TEST_F(ViewMaps, AStartThatIsGivenMovesAnAxis) {
  auto map = parse("tensor<9xf32>",
                   "dynamic_slice %x, %n {axis = 0, size = affine_map<() -> "
                   "(4)>} : (tensor<9xf32>, tensor<i64>) -> tensor<4xf32>");
  EXPECT_EQ(map.part().axes[0].moves, 1);
  EXPECT_TRUE(map.start);
  EXPECT_FALSE(map.isFixed());
  EXPECT_EQ(map.parts.size(), 1u);
}

TEST_F(ViewMaps, WindowsSlideOverAnImageAndBack) {
  auto map = parse("tensor<2x9xf32>",
                   "window %x {axes = array<i64: 1>, sizes = array<i64: 3>, "
                   "strides = array<i64: 2>, dilations = array<i64: 1>} : "
                   "(tensor<2x9xf32>) -> tensor<2x4x3xf32>");
  ASSERT_TRUE(map.takesWindows());
  ir::ViewWindow window = map.windows().front();
  EXPECT_EQ(window.axis, 1u);
  EXPECT_EQ(window.element, 2u);
  EXPECT_EQ(window.size, 3);
  EXPECT_EQ(window.stride, 2);
  auto back = parse("tensor<2x4x3xf32>",
                    "unwindow %x {shape = affine_map<() -> (2, 9)>, axes = "
                    "array<i64: 1>, sizes = array<i64: 3>, strides = array<i64:"
                    " 2>, dilations = array<i64: 1>} : (tensor<2x4x3xf32>) -> "
                    "tensor<2x9x3xf32>");
  EXPECT_TRUE(back.returnsWindows());
  EXPECT_EQ(back.windows().front().stride, 2);
  EXPECT_FALSE(back.passesTail(back.part(), 1));
}

TEST_F(ViewMaps, JoinedTensorsFollowEachOther) {
  auto map =
      parse("tensor<2x3xf32>", "concat %x, %x {axis = 1} : (tensor<2x3xf32>, "
                               "tensor<2x3xf32>) -> tensor<2x6xf32>");
  EXPECT_EQ(map.joins(), 1u);
  EXPECT_EQ(map.parts.size(), 2u);
  EXPECT_FALSE(map.fill);
}

} // namespace
