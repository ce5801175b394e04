/// What every device must do, run on each that this machine has.
#include "tests/conformance/DeviceGaps.h"
#include "tests/conformance/Kernels.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;
using conformance::Ability;

namespace {

class DeviceTest : public testing::TestWithParam<DeviceId> {
protected:
  void SetUp() override {
    auto opened = getDevice(GetParam());
    ASSERT_TRUE(opened) << opened.error().message;
    device = *opened;
  }

  static std::vector<std::byte> pattern(size_t bytes) {
    std::vector<std::byte> data(bytes);
    for (size_t i = 0; i < bytes; ++i)
      data[i] = std::byte(i * 7 + 3);
    return data;
  }

  Device *device = nullptr;
};

#define NEEDS(ability)                                                         \
  if (std::string why = conformance::gap(GetParam(), ability); !why.empty())   \
  GTEST_SKIP() << why

} // namespace

TEST_P(DeviceTest, saysWhoItIs) {
  EXPECT_EQ(device->id(), GetParam());
  EXPECT_FALSE(device->description().empty());
  std::string profile = device->profile();
  EXPECT_EQ(profile, device->profile());
  EXPECT_EQ(profile.find(' '), std::string::npos);
}

TEST_P(DeviceTest, allocatesAlignedMemory) {
  NEEDS(Ability::memory);
  for (size_t bytes : {0, 1, 255, 256, 257, 100000, 5 << 20}) {
    auto buffer = device->allocate(bytes);
    ASSERT_TRUE(buffer) << buffer.error().message;
    EXPECT_EQ((*buffer)->bytes(), bytes);
    EXPECT_EQ(&(*buffer)->device(), device);
    EXPECT_EQ((*buffer)->useCount(), 1u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>((*buffer)->data()) % 256, 0u);
  }
}

TEST_P(DeviceTest, countsMemory) {
  NEEDS(Ability::memory);
  size_t before = device->memoryInfo().inUse;
  {
    auto buffer = device->allocate(1 << 20);
    ASSERT_TRUE(buffer);
    MemoryInfo info = device->memoryInfo();
    EXPECT_GE(info.inUse, before + (1 << 20));
    EXPECT_GE(info.peak, info.inUse);
    EXPECT_GE(info.total, info.inUse);
    EXPECT_GE(info.reserved, info.inUse);
  }
  EXPECT_EQ(device->memoryInfo().inUse, before);
  EXPECT_GE(device->memoryInfo().peak, before + (1 << 20));
  device->resetPeakMemory();
  EXPECT_EQ(device->memoryInfo().peak, before);
}

TEST_P(DeviceTest, refusesMoreMemoryThanThereIs) {
  NEEDS(Ability::memory);
  size_t before = device->memoryInfo().inUse;
  auto buffer = device->allocate(size_t(1) << 60);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, ErrorKind::out_of_memory);
  EXPECT_EQ(device->memoryInfo().inUse, before);
  EXPECT_TRUE(device->allocate(1024));
}

TEST_P(DeviceTest, copiesInAndOut) {
  NEEDS(Ability::memory);
  auto data = pattern(1000);
  auto buffer = device->allocate(1000);
  ASSERT_TRUE(buffer);
  ASSERT_TRUE(device->copyIn(**buffer, 0, data));
  std::vector<std::byte> back(1000);
  ASSERT_TRUE(device->copyOut(back, **buffer, 0));
  EXPECT_EQ(back, data);
  ASSERT_TRUE(device->copyIn(**buffer, 990, std::span(data).first(10)));
  back.resize(20);
  ASSERT_TRUE(device->copyOut(back, **buffer, 980));
  EXPECT_EQ(std::memcmp(back.data(), data.data() + 980, 10), 0);
  EXPECT_EQ(std::memcmp(back.data() + 10, data.data(), 10), 0);
}

/// Threads share a copy of this size; none of them leaves a byte out.
TEST_P(DeviceTest, copiesMuchIn) {
  NEEDS(Ability::memory);
  constexpr size_t size = (size_t(9) << 20) + 13, start = 1001;
  auto data = pattern(size);
  auto buffer = device->allocate(start + size + 1);
  ASSERT_TRUE(buffer);
  std::byte mark{0xab}, after{};
  ASSERT_TRUE(device->copyIn(**buffer, start + size, {&mark, 1}));
  ASSERT_TRUE(device->copyIn(**buffer, start, data));
  std::vector<std::byte> back(size);
  ASSERT_TRUE(device->copyOut(back, **buffer, start));
  EXPECT_EQ(back, data);
  ASSERT_TRUE(device->copyOut({&after, 1}, **buffer, start + size));
  EXPECT_EQ(after, mark);
}

TEST_P(DeviceTest, copiesBetweenBuffers) {
  NEEDS(Ability::memory);
  auto data = pattern(512);
  auto from = device->allocate(512), to = device->allocate(600);
  ASSERT_TRUE(from && to);
  ASSERT_TRUE(device->copyIn(**from, 0, data));
  ASSERT_TRUE(device->copy(**to, **from, 512));
  std::vector<std::byte> back(512);
  ASSERT_TRUE(device->copyOut(back, **to, 0));
  EXPECT_EQ(back, data);
}

TEST_P(DeviceTest, checksRanges) {
  NEEDS(Ability::memory);
  auto data = pattern(100);
  auto buffer = device->allocate(99);
  ASSERT_TRUE(buffer);
  Status tooLong = device->copyIn(**buffer, 0, data);
  ASSERT_FALSE(tooLong);
  EXPECT_EQ(tooLong.error().kind, ErrorKind::invalid_argument);
  EXPECT_FALSE(device->copyIn(**buffer, 50, std::span(data).first(50)));
  EXPECT_FALSE(device->copyOut(data, **buffer, 0));
  EXPECT_FALSE(device->copyOut(data, **buffer, SIZE_MAX));
  auto other = device->allocate(200);
  ASSERT_TRUE(other);
  EXPECT_FALSE(device->copy(**buffer, **other, 100));
  EXPECT_FALSE(device->copy(**other, **buffer, 100));
}

TEST_P(DeviceTest, refusesForeignBuffers) {
  NEEDS(Ability::memory);
  for (DeviceId id : availableDevices()) {
    if (id == GetParam())
      continue;
    auto foreign = (*getDevice(id))->allocate(16);
    auto own = device->allocate(16);
    ASSERT_TRUE(foreign && own);
    EXPECT_FALSE(device->copyIn(**foreign, 0, pattern(16)));
    EXPECT_FALSE(device->copy(**own, **foreign, 16));
  }
}

TEST_P(DeviceTest, copiesFromEveryDevice) {
  NEEDS(Ability::memory);
  auto data = pattern(1000);
  for (DeviceId id : availableDevices()) {
    SCOPED_TRACE(toString(id));
    Device &source = **getDevice(id);
    auto from = source.allocate(1000), own = device->allocate(1000);
    ASSERT_TRUE(from && own);
    ASSERT_TRUE(source.copyIn(**from, 0, data));
    EXPECT_FALSE(device->copyAcross(**own, **from, 1001));
    if (id != GetParam()) {
      EXPECT_FALSE(device->copyAcross(**from, **own, 1));
    }
    uint64_t version = (*own)->version();
    ASSERT_TRUE(device->copyAcross(**own, **from, 1000));
    EXPECT_GT((*own)->version(), version);
    ASSERT_TRUE(device->copyAcross(**own, **from, 0));
    ASSERT_TRUE(source.copyIn(**from, 0, pattern(10)));
    std::vector<std::byte> read(1000);
    ASSERT_TRUE(device->copyOut(read, **own, 0));
    EXPECT_EQ(read, data);
  }
}

TEST_P(DeviceTest, recordsEvents) {
  auto event = device->record();
  ASSERT_TRUE(event);
  EXPECT_TRUE((*event)->wait());
  EXPECT_TRUE((*event)->done());
  EXPECT_TRUE(device->synchronize());
}

TEST_P(DeviceTest, refusesBrokenImages) {
  auto image = device->loadImage(pattern(1000));
  ASSERT_FALSE(image);
  EXPECT_FALSE(image.error().message.empty());
}

TEST_P(DeviceTest, refusesImagesItCannotRun) {
  if (conformance::gap(GetParam(), Ability::kernels).empty())
    GTEST_SKIP() << "it runs kernels";
  EXPECT_FALSE(device->loadImage(kernelImage()));
  KernelBlock block{kernelAbiVersion, 7, nullptr, nullptr, nullptr};
  LaunchArgs args;
  args.block = &block;
  args.chunks = 1;
  Status launched = device->launch(args);
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().kind, ErrorKind::unsupported);
  EXPECT_NE(launched.error().message.find("launch 7"), std::string::npos);
}

TEST_P(DeviceTest, launchesEveryChunkOnce) {
  NEEDS(Ability::kernels);
  auto image = device->loadImage(
      conformance::forDevice(GetParam(), ProgramBuilder()).image);
  ASSERT_TRUE(image) << image.error().message;
  std::vector<float> x(10000);
  std::iota(x.begin(), x.end(), 0.0f);
  BufferRef factor = bufferOf(*device, std::vector<float>{2});
  for (float grain : {0.0f, 1000.0f}) { // alone, and on the pool
    auto in = bufferOf(*device, x);
    auto out = device->allocate(x.size() * 4);
    ASSERT_TRUE(out);
    void *buffers[] = {in->data(), factor->data(), (*out)->data()};
    int64_t dims[] = {int64_t(x.size())};
    BufferRef error = bufferOf(*device, std::vector<uint64_t>{UINT64_MAX});
    KernelBlock block{kernelAbiVersion, 0,
                      static_cast<ErrorWord *>(error->data()), dims, buffers};
    LaunchArgs args;
    args.function = (*image)->find("scale");
    args.block = &block;
    args.numDims = 1;
    args.numBuffers = 3;
    args.chunks = 40;
    args.chunkMicroseconds = grain;
    ASSERT_TRUE(device->launch(args));
    ASSERT_TRUE(device->synchronize());
    std::vector<float> back = valuesOf<float>(**out);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(back[i], x[i] * 2);
  }
}

TEST_P(DeviceTest, runsPrograms) {
  NEEDS(Ability::kernels);
  auto program = Program::load(
      conformance::forDevice(GetParam(), scaleProgram()).file(), *device);
  ASSERT_TRUE(program) << program.error().message;
  std::vector<std::thread> hosts;
  for (int t = 0; t < 4; ++t)
    hosts.emplace_back([&, t] {
      for (int64_t n = 1; n < 40; ++n) {
        std::vector<float> x = std::vector<float>(n, float(t));
        std::vector<Binding> inputs = {bind(bufferOf(*device, x), {n}),
                                       bindScalar(3)};
        auto outputs = run(**program, inputs);
        ASSERT_TRUE(outputs) << outputs.error().message;
        auto values = valuesOf<float>(*(*outputs)[0].buffer);
        EXPECT_EQ(values, std::vector<float>(n, float(t) * 3));
      }
    });
  for (std::thread &host : hosts)
    host.join();
}

TEST_P(DeviceTest, repeatsGraphs) {
  if (!device->hasGraphs()) {
    EXPECT_FALSE(device->makeGraph({}, {}));
    GTEST_SKIP() << "it makes no graphs";
  }
  auto image = device->loadImage(
      conformance::forDevice(GetParam(), ProgramBuilder()).image);
  ASSERT_TRUE(image) << image.error().message;
  int64_t count = 1000;
  std::vector<float> x(size_t(count), 1.5f);
  std::vector<BufferRef> at; // each is the one before times the factor
  for (int i = 0; i < 4; ++i)
    at.push_back(bufferOf(*device, x));
  BufferRef factor = bufferOf(*device, std::vector<float>{2});
  BufferRef word = bufferOf(*device, std::vector<uint64_t>{77});
  std::vector<GraphNode> nodes(3);
  void *buffers[3][3];
  KernelBlock blocks[3];
  for (uint32_t i = 0; i < 3; ++i) {
    void *own[] = {at[i]->data(), factor->data(), at[i + 1]->data()};
    std::copy(std::begin(own), std::end(own), buffers[i]);
    blocks[i] = {kernelAbiVersion, i, static_cast<ErrorWord *>(word->data()),
                 &count, buffers[i]};
    nodes[i].launch.function = (*image)->find("scale");
    nodes[i].launch.block = &blocks[i];
    nodes[i].launch.numDims = 1;
    nodes[i].launch.numBuffers = 3;
    nodes[i].launch.chunks = 4;
    if (i > 0)
      nodes[i].after = {i - 1};
  }
  nodes[1].launch = {}; // a copy instead
  nodes[1].copy = {at[2]->data(), at[1]->data(), size_t(count) * 4};
  auto graph = device->makeGraph(nodes, {word->data(), {0}});
  ASSERT_TRUE(graph) << graph.error().message;
  for (float value : {1.5f, 5.0f, -3.0f}) {
    x.assign(x.size(), value);
    ASSERT_TRUE(device->copyIn(*at[0], 0, std::as_bytes(std::span(x))));
    ASSERT_TRUE((*graph)->launch());
    auto seen = (*graph)->waitForWord();
    ASSERT_TRUE(seen) << seen.error().message;
    EXPECT_EQ(*seen, 77u);
    x.assign(x.size(), value * 4);
    EXPECT_EQ(valuesOf<float>(*at[3]), x);
  }
  // Other buffers, for later launches only.
  std::vector<float> y(size_t(count), 100.0f);
  BufferRef other = bufferOf(*device, y), late = bufferOf(*device, y);
  ASSERT_TRUE((*graph)->launch());
  buffers[2][2] = late->data();
  ASSERT_TRUE((*graph)->setLaunch(2, nodes[2].launch));
  ASSERT_TRUE(
      (*graph)->setCopy(1, {at[2]->data(), other->data(), size_t(count) * 4}));
  EXPECT_EQ(valuesOf<float>(*late), y);
  ASSERT_TRUE((*graph)->launch());
  EXPECT_EQ(valuesOf<float>(*at[3]), std::vector<float>(count, -12.0f));
  EXPECT_EQ(valuesOf<float>(*late), std::vector<float>(count, 200.0f));
}

TEST_P(DeviceTest, refusesProgramsForOthers) {
  if (conformance::gap(GetParam(), Ability::kernels).empty())
    GTEST_SKIP() << "it runs kernels";
  auto program = Program::load(scaleProgram().file(), *device);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::unsupported);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest,
                         testing::ValuesIn(availableDevices()),
                         [](const auto &device) {
                           std::string name = toString(device.param);
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });
