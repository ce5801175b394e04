#include "runtime/device/vulkan/VulkanLaunch.h"
#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/PipelineFile.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// A device that takes ten workgroups in a row.
class VulkanLaunchTest : public testing::Test {
protected:
  VulkanLaunchTest() { about.mostGroups = 10; }

  Status pack(int64_t chunks) {
    LaunchArgs args;
    args.function = &kernel;
    args.block = &block;
    args.numDims = 1;
    args.numBuffers = 2;
    args.chunks = chunks;
    return packLaunch(gpu, "vulkan:0", args, launch);
  }

  vulkan::Loader loader;
  VulkanAbout about;
  VulkanGpu gpu{loader, about};
  VulkanKernel kernel{nullptr, 4};
  ErrorWord error{UINT64_MAX};
  int64_t dim = 77;
  void *buffers[2] = {reinterpret_cast<void *>(0x1000),
                      reinterpret_cast<void *>(0x2000)};
  KernelBlock block{kernelAbiVersion, 5, &error, &dim, buffers};
  VulkanLaunch launch;
};

} // namespace

TEST_F(VulkanLaunchTest, PassesTheArgumentBlock) {
  ASSERT_TRUE(pack(9));
  std::vector<uint64_t> words = {
      reinterpret_cast<uintptr_t>(&error), 5, 9, 77, 0x1000, 0x2000};
  EXPECT_EQ(launch.words, words);
  EXPECT_EQ(launch.columns, 3u); // of four subgroups
  EXPECT_EQ(launch.rows, 1u);
}

TEST_F(VulkanLaunchTest, HasRowsOfWorkgroups) {
  for (int64_t chunks : {40, 41, 79, 80, 81, 399, 400}) {
    ASSERT_TRUE(pack(chunks)) << chunks;
    EXPECT_LE(launch.columns, 10u);
    EXPECT_LE(launch.rows, 10u);
    EXPECT_GE(int64_t(launch.columns) * launch.rows * 4, chunks);
  }
  Status tooMany = pack(401);
  ASSERT_FALSE(tooMany);
  EXPECT_EQ(tooMany.error().message, "vulkan:0: launch 5 has 401 chunks");
}

TEST_F(VulkanLaunchTest, HasNothingToDoWithoutChunks) {
  ASSERT_TRUE(pack(0));
  EXPECT_EQ(launch.columns, 0u);
}

TEST_F(VulkanLaunchTest, PassesAddressesToAGivenKernel) {
  kernel.given = GivenLaunch{{3, 4, 5}, {8, 1, 1}, 0, {1, 0, 1}};
  ASSERT_TRUE(pack(1));
  EXPECT_EQ(launch.words, (std::vector<uint64_t>{0x2000, 0x1000, 0x2000}));
  EXPECT_EQ(launch.columns, 3u);
  EXPECT_EQ(launch.rows, 4u);
  EXPECT_EQ(launch.layers, 5u);
  kernel.given->grid[1] = 11;
  EXPECT_EQ(pack(1).error().message,
            "vulkan:0: launch 5 has a grid of {3, 11, 5}, the device takes 10 "
            "workgroups");
  kernel.given->buffers = {2};
  EXPECT_EQ(pack(1).error().message, "vulkan:0: launch 5 has no buffer 2");
  kernel.given.reset();
  ASSERT_TRUE(pack(9));
  EXPECT_EQ(launch.layers, 1u);
}

TEST(PipelineData, IsOfOneDeviceAndDriver) {
  VulkanAbout about;
  about.vendor = 7;
  about.deviceId = 8;
  std::memset(about.cacheId, 9, sizeof(about.cacheId));
  std::vector<uint32_t> words = {
      32, 1, 7, 8, 0x09090909, 0x09090909, 0x09090909, 0x09090909, 123};
  auto isData = [&] {
    return isPipelineData(std::as_bytes(std::span(words)), about);
  };
  EXPECT_TRUE(isData());
  for (size_t i = 0; i < 8; ++i) {
    uint32_t before = std::exchange(words[i], 1000u);
    EXPECT_FALSE(isData()) << i;
    words[i] = before;
  }
  words.resize(7);
  EXPECT_FALSE(isData());
}

TEST_F(VulkanLaunchTest, KeepsIndicesOf32BitsBelowTheirEnd) {
  kernel.sizes = "";
  about.mostGroups = UINT32_MAX;
  ASSERT_TRUE(pack(mostElements32));
  EXPECT_EQ(
      pack(mostElements32 + 1).error().message,
      "vulkan:0: launch 5 has a tensor of 1073741825 elements; of kernels "
      "made for unknown sizes, or without shaderInt64, one has up to "
      "1073741824");
  kernel.sizes = "7 ; d0 64 * ;";
  dim = mostElements32 / 64;
  EXPECT_TRUE(pack(9));
  ++dim;
  EXPECT_EQ(pack(9).error().kind, ErrorKind::unsupported);
  kernel.sizes = "d0 64";
  EXPECT_EQ(pack(9).error().kind, ErrorKind::io);
  kernel.sizes.reset();
  EXPECT_TRUE(pack(mostElements32 + 1));
}

TEST(IndexLimit, FindsTheLargestSize) {
  const int64_t dims[] = {7, 1000000, -3};
  auto largest = [&](std::string_view sizes) {
    auto found = largestSize(sizes, dims);
    return found ? *found : -1;
  };
  EXPECT_EQ(largest(""), 0);
  EXPECT_EQ(largest("5 ; d0 d0 * ; 9 ;"), 49);
  EXPECT_EQ(largest("d0 2 + 4 / ;"), 2);
  EXPECT_EQ(largest("d0 2 + 4 ^ ;"), 3);
  EXPECT_EQ(largest("d0 2 + 4 % ;"), 1);
  EXPECT_EQ(largest("10 d2 2 / + ;"), 8); // rounds down
  EXPECT_EQ(largest("10 d2 2 % + ;"), 11);
  EXPECT_EQ(largest("d1 d1 * d1 * d1 * ;"), INT64_MAX);
  for (const char *damaged : {"d3 ;", "d ;", "7", "7 8 ;", "7 + ;", ";", "x ;",
                              "7 0 / ;", "7 d2 % ;", "7;", "7  8 + ;"})
    EXPECT_EQ(largest(damaged), -1) << damaged;
}
