/// Positions out of range, undefined symbols, unknown targets, refused kernels.
#include "tests/unit/lower/KernelRunner.h"

#include "compiler/link/LinkImage.h"

#include "gtest/gtest.h"

namespace sinter::compiler {
namespace {

TEST(Errors, TheLowestPositionOutOfRangeIsReported) {
  KernelRunner kernel(kernelText(
      "map", 0, "%x: tensor<5xf32>, %i: tensor<40xi64>",
      "%0 = sinter.gather %x, %i {axis = 0 : i64} : (tensor<5xf32>, "
      "tensor<40xi64>) -> tensor<40xf32>\nprogram.yield %0 : tensor<40xf32>"));
  ASSERT_EQ(kernel.error, "");
  std::vector<float> x = {1, 2, 3, 4, 5}, y(40);
  std::vector<int64_t> positions(40, 2);
  kernel.run({x.data(), positions.data(), y.data()});
  EXPECT_EQ(kernel.errorWord, UINT64_MAX);
  positions[33] = -1;
  positions[19] = 5;
  positions[21] = 6;
  kernel.run({x.data(), positions.data(), y.data()});
  EXPECT_EQ(kernel.errorWord, (uint64_t(3) << 40) | 19);
  EXPECT_EQ(y[33], 1);
  EXPECT_EQ(y[19], 5);
}

TEST(Errors, NothingIsReadFromAnEmptyTable) {
  std::string x = "tensor<?x20xf32, affine_map<()[s0] -> (s0, 20)>>";
  KernelRunner gather(kernelText(
      "map", 1, "%x: " + x + ", %i: tensor<3x20xi64>",
      "%0 = sinter.gather %x, %i {axis = 0 : i64} : (" + x +
          ", tensor<3x20xi64>) -> tensor<3x20xf32>\nprogram.yield %0 : "
          "tensor<3x20xf32>"));
  ASSERT_EQ(gather.error, "");
  std::vector<int64_t> positions(60, 0);
  std::vector<float> y(60);
  gather.run({nullptr, positions.data(), y.data()}, {0});
  EXPECT_EQ(gather.errorWord, uint64_t(3) << 40);

  KernelRunner scatter(
      kernelText("gather_scatter", 1,
                 "%x: " + x + ", %i: tensor<3x20xi64>, %u: tensor<3x20xf32>",
                 "%0 = sinter.scatter_add %x, %i, %u {axis = 0 : i64} : (" + x +
                     ", tensor<3x20xi64>, tensor<3x20xf32>) -> " + x +
                     "\nprogram.yield %0 : " + x));
  ASSERT_EQ(scatter.error, "");
  scatter.run({nullptr, positions.data(), y.data(), nullptr}, {0});
  EXPECT_EQ(scatter.errorWord, uint64_t(3) << 40);
}

TEST(Errors, AnImageStandsAlone) {
  std::string object = "not an object";
  auto image = linkImage(std::span(&object, 1));
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().kind, ErrorKind::compile);
}

TEST(Errors, TargetsAreNamed) {
  for (const char *name : {"gpu", "cpu:", "cpu:x86-64-v9", "cpux"}) {
    auto target = makeTarget(name);
    ASSERT_FALSE(target) << name;
    EXPECT_EQ(target.error().kind, ErrorKind::unsupported);
    EXPECT_NE(target.error().message.find("cpu:x86-64-v4"), std::string::npos);
  }
  EXPECT_EQ((*makeTarget("cpu:scalar"))->requirements(), "");
}

TEST(Errors, KernelsWithTwoRootsAreRefused) {
  KernelRunner kernel(kernelText(
      "contraction", 0, "%x: tensor<4x4xf32>",
      "%0 = sinter.matmul %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
      "tensor<4x4xf32>\n%1 = sinter.matmul %0, %x : (tensor<4x4xf32>, "
      "tensor<4x4xf32>) -> tensor<4x4xf32>\nprogram.yield %1 : "
      "tensor<4x4xf32>"));
  EXPECT_NE(kernel.error.find("more than one contraction"), std::string::npos);
}

} // namespace
} // namespace sinter::compiler
