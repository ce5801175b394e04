#include "runtime/device/cuda/CudaLaunch.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// The blocks of a launch on a device of ten multiprocessors.
uint32_t blocksOf(const CudaKernel &kernel, int64_t chunks) {
  cuda::Driver driver;
  void *buffer = nullptr;
  KernelBlock block{kernelAbiVersion, 5, nullptr, nullptr, &buffer};
  LaunchArgs args;
  args.function = &kernel;
  args.block = &block;
  args.numBuffers = 1;
  args.chunks = chunks;
  CudaLaunch launch;
  EXPECT_TRUE(packLaunch({driver, "cuda:0", 10}, args, launch));
  EXPECT_TRUE(launch.isEmpty() || launch.block[0] == kernel.warps * warpLanes);
  return launch.grid[0];
}

/// It asks the driver for nothing.
TensorMap ofNothing() {
  TensorMap map;
  map.extents = {{0, {}}};
  map.strides = {{1, {}}};
  map.box = {64};
  return map;
}

} // namespace

TEST(CudaLaunch, AWarpHasAChunk) {
  CudaKernel kernel;
  kernel.warps = 4;
  EXPECT_EQ(blocksOf(kernel, 0), 0u);
  EXPECT_EQ(blocksOf(kernel, 1), 1u);
  EXPECT_EQ(blocksOf(kernel, 401), 101u);
}

TEST(CudaLaunch, BlocksTakeOneTileAfterAnother) {
  CudaKernel kernel;
  kernel.warps = 12;
  kernel.blocks = 2;
  kernel.maps = {ofNothing()};
  EXPECT_EQ(blocksOf(kernel, 7), 7u);
  EXPECT_EQ(blocksOf(kernel, 400), 20u);
}
