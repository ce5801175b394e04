/// Where lanes are threads a kernel has tasks for many of them, however few
/// its results are.
#include "tests/unit/lower/KernelRunner.h"

#include "dialects/sinter/Dialect.h"

#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

using namespace mlir;

namespace sinter::compiler {
namespace {

// The chunks of each phase of a kernel on a GPU.
std::vector<int64_t> tasksOf(const std::string &text,
                             NumericsMode numerics = NumericsMode::standard) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SinterDialect>();
  context.loadDialect<program::ProgramDialect>();
  auto module = parseSourceString<ModuleOp>(text, &context);
  auto target = makeTarget("cuda:sm_80");
  if (!module || !target)
    return {};
  EmitOptions options;
  options.verify = true;
  options.lowerOnly = true;
  options.numerics = numerics;
  auto kernel = *module->getOps<program::KernelOp>().begin();
  auto code = emitKernel(kernel, **target, options);
  if (failed(code))
    return {};
  std::vector<int64_t> tasks;
  for (const PhaseCode &phase : code->phases)
    tasks.push_back(evaluate(code->exprs, phase.chunks, {}));
  return tasks;
}

TEST(ThreadTasks, APoolingsWindowsAreOneRowEach) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "reduce", 0, "%x: tensor<64x24x24x16xf32>",
      "%0 = sinter.window %x {axes = array<i64: 1, 2>, dilations = array<i64: "
      "1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 3, 3>} : "
      "(tensor<64x24x24x16xf32>) -> tensor<64x8x8x16x3x3xf32>\n"
      "%1 = sinter.transpose %0 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : "
      "(tensor<64x8x8x16x3x3xf32>) -> tensor<64x8x8x3x3x16xf32>\n"
      "%2 = sinter.sum %1 {axes = array<i64: 3, 4>, keepdims = false} : "
      "(tensor<64x8x8x3x3x16xf32>) -> tensor<64x8x8x16xf32>\n"
      "program.yield %2 : tensor<64x8x8x16xf32>"));
  EXPECT_EQ(tasks, std::vector<int64_t>({64 * 8}));
}

TEST(ThreadTasks, WideWindowsAreCutAlongTheLine) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "reduce", 0, "%x: tensor<1x101x101x128xf32>",
      "%0 = sinter.window %x {axes = array<i64: 1, 2>, dilations = array<i64: "
      "1, 1>, sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>} : "
      "(tensor<1x101x101x128xf32>) -> tensor<1x50x50x128x3x3xf32>\n"
      "%1 = sinter.transpose %0 {permutation = array<i64: 0, 1, 2, 4, 5, 3>} : "
      "(tensor<1x50x50x128x3x3xf32>) -> tensor<1x50x50x3x3x128xf32>\n"
      "%2 = sinter.sum %1 {axes = array<i64: 3, 4>, keepdims = false} : "
      "(tensor<1x50x50x3x3x128xf32>) -> tensor<1x50x50x128xf32>\n"
      "program.yield %2 : tensor<1x50x50x128xf32>"));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_GE(tasks[0], 2 * 50 * 7);
}

TEST(ThreadTasks, ScatteredRowsHaveOwners) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "gather_scatter", 0,
      "%x: tensor<256x256xf32>, %i: tensor<2048x256xi64>, %u: "
      "tensor<2048x256xf32>",
      "%0 = sinter.scatter_add %x, %i, %u {axis = 0 : i64} : "
      "(tensor<256x256xf32>, tensor<2048x256xi64>, tensor<2048x256xf32>) -> "
      "tensor<256x256xf32>\nprogram.yield %0 : tensor<256x256xf32>"));
  EXPECT_EQ(tasks, std::vector<int64_t>({4 * 256}));
}

TEST(ThreadTasks, AWeightsGradientIsSummedInParts) {
  std::string text = kernelText(
      "contraction", 0, "%x: tensor<8192x64xf32>, %g: tensor<8192x32xf32>",
      "%0 = sinter.transpose %x {permutation = array<i64: 1, 0>} : "
      "(tensor<8192x64xf32>) -> tensor<64x8192xf32>\n"
      "%1 = sinter.matmul %0, %g : (tensor<64x8192xf32>, tensor<8192x32xf32>) "
      "-> tensor<64x32xf32>\nprogram.yield %1 : tensor<64x32xf32>");
  std::vector<int64_t> tasks = tasksOf(text);
  ASSERT_EQ(tasks.size(), 2U);
  EXPECT_GE(tasks[0], 32);     // a block for each part
  EXPECT_EQ(tasks[1], 64 * 8); // a block of warps for 32 results
  EXPECT_EQ(tasksOf(text, NumericsMode::exact).size(), 1U);
}

TEST(ThreadTasks, RowsMayHaveHeadsBetweenThem) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "contraction", 0, "%x: tensor<16x4x128x64xf32>, %g: tensor<2048x256xf32>",
      "%0 = sinter.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : "
      "(tensor<16x4x128x64xf32>) -> tensor<16x128x4x64xf32>\n"
      "%1 = sinter.reshape %0 {shape = affine_map<() -> (2048, 256)>} : "
      "(tensor<16x128x4x64xf32>) -> tensor<2048x256xf32>\n"
      "%2 = sinter.transpose %1 {permutation = array<i64: 1, 0>} : "
      "(tensor<2048x256xf32>) -> tensor<256x2048xf32>\n"
      "%3 = sinter.matmul %2, %g : (tensor<256x2048xf32>, "
      "tensor<2048x256xf32>) -> tensor<256x256xf32>\n"
      "program.yield %3 : tensor<256x256xf32>"));
  EXPECT_EQ(tasks.size(), 2U);
}

// What is computed from a layer's inputs is not cut: how many rows there are
// would choose for the sum.
TEST(ThreadTasks, ALayersInputsAreOneSum) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "contraction", 0, "%x: tensor<16x4096xf32>, %w: tensor<4096x16xf32>",
      "%0 = sinter.matmul %x, %w : (tensor<16x4096xf32>, "
      "tensor<4096x16xf32>) -> tensor<16x16xf32>\n"
      "program.yield %0 : tensor<16x16xf32>"));
  EXPECT_EQ(tasks.size(), 1U);
}

TEST(ThreadTasks, SmallMapsAreManyTasks) {
  std::vector<int64_t> tasks = tasksOf(kernelText(
      "map", 0, "%x: tensor<384x5xf32>",
      "%0 = sinter.slice %x {starts = array<i64: 0, 1>, limits = "
      "affine_map<() -> (384, 4)>, steps = array<i64: 1, 1>} : "
      "(tensor<384x5xf32>) -> tensor<384x3xf32>\n"
      "%1 = sinter.exp %0 : (tensor<384x3xf32>) -> tensor<384x3xf32>\n"
      "program.yield %1 : tensor<384x3xf32>"));
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_GE(tasks[0], 64);
}

} // namespace
} // namespace sinter::compiler
