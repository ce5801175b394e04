/// What every device must do that fails for good while it works: say so, the
/// same each time, and let go of what was made with it. Drivers of the tests'
/// own fail when they are told to.
#include "tests/conformance/DeviceGaps.h"
#include "tests/conformance/Kernels.h"
#include "tests/unit/cuda/FakeDriver.h"
#include "tests/vulkan/FaultyVulkan.h"
#include "tests/vulkan/InChild.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
using conformance::Ability;

namespace {

/// `scale` of all that `buffers` has: x, factor and out.
struct Scale {
  std::vector<BufferRef> held;
  void *buffers[3] = {};
  int64_t count = 100;
  KernelBlock block{};
  LaunchArgs args;

  Scale(Device &device, const Image &image, const char *kernel = "scale") {
    held = {bufferOf(device, std::vector<float>(100, 3)),
            bufferOf(device, std::vector<float>{2}),
            bufferOf(device, std::vector<float>(100)),
            bufferOf(device, std::vector<uint64_t>{UINT64_MAX})};
    for (size_t i = 0; i < 3; ++i)
      buffers[i] = held[i]->data();
    block = {kernelAbiVersion, 0, static_cast<ErrorWord *>(held[3]->data()),
             &count, buffers};
    args.function = image.find(kernel);
    args.block = &block;
    args.numDims = 1;
    args.numBuffers = 3;
    args.chunks = 1;
  }
};

std::unique_ptr<Image> imageOf(Device &device, ProgramBuilder builder = {}) {
  if (device.id().kind == DeviceKind::cuda)
    builder.targetCuda(sinter::test::fakePtx);
  else
    builder = conformance::forDevice(device.id(), builder);
  auto image = device.loadImage(builder.image);
  EXPECT_TRUE(image) << image.error().message;
  return *std::move(image);
}

/// From now on the device is lost, at the latest when somebody waits.
void lose(Device &device, const Image &image) {
  if (device.id().kind == DeviceKind::vulkan)
    return loseVulkanDevice();
  Scale fault(device, image, "fault");
  EXPECT_TRUE(device.launch(fault.args));
}

void expectWorks(Device &device) {
  auto image = imageOf(device);
  Scale scale(device, *image);
  EXPECT_TRUE(device.launch(scale.args));
  EXPECT_TRUE(device.synchronize());
  EXPECT_EQ(valuesOf<float>(*scale.held[2]), std::vector<float>(100, 6));
}

/// Runs in a process of its own.
void useLostDevice(DeviceId id) {
  Device &device = **getDevice(id);
  expectWorks(device);
  auto image = imageOf(device);
  Scale scale(device, *image);
  std::unique_ptr<WorkGraph> graph;
  if (device.hasGraphs()) {
    auto made =
        device.makeGraph(std::vector<GraphNode>{{scale.args, {}, {}}}, {});
    ASSERT_TRUE(made) << made.error().message;
    graph = *std::move(made);
    EXPECT_TRUE(graph->launch());
    EXPECT_TRUE(device.synchronize());
  }
  lose(device, *image);
  (void)device.launch(scale.args); // what is queued may be lost without a word
  Status first = device.synchronize();
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().kind, ErrorKind::device);
  EXPECT_EQ(first.error().message.find(toString(id) + ": "), 0u)
      << first.error().message;
  // All that has to reach the device says so.
  std::vector<std::byte> bytes(16);
  Status later[] = {device.synchronize(),
                    device.copyOut(bytes, *scale.held[0], 0),
                    device.copyIn(*scale.held[0], 0, bytes),
                    device.copy(*scale.held[2], *scale.held[0], 16),
                    device.launch(scale.args),
                    graph ? graph->launch() : device.synchronize()};
  for (Status &each : later) {
    ASSERT_FALSE(each);
    EXPECT_EQ(each.error().kind, ErrorKind::device);
    EXPECT_EQ(each.error().message.find(toString(id) + ": "), 0u)
        << each.error().message;
  }
  EXPECT_EQ(device.synchronize().error().message, first.error().message);
  graph.reset();
  image.reset();
  scale.held.clear();
  expectWorks(**getDevice({DeviceKind::cpu, 0}));
}

class LostDeviceTest : public testing::TestWithParam<DeviceId> {};

} // namespace

TEST_P(LostDeviceTest, saysSoEachTime) {
  if (std::string why = conformance::gap(GetParam(), Ability::loss);
      !why.empty())
    GTEST_SKIP() << why;
  sinter::test::inChild([] { useLostDevice(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(Devices, LostDeviceTest,
                         testing::ValuesIn(availableDevices()),
                         [](const auto &device) {
                           std::string name = toString(device.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });
