/// What a recorded program asks of Vulkan, counted.
#include "runtime/device/Device.h"
#include "runtime/program/Profile.h"
#include "tests/conformance/Kernels.h"
#include "tests/vulkan/FaultyVulkan.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::test;

namespace {

Device &gpu() { return **getDevice({DeviceKind::vulkan, 0}); }

/// first = x * s, second = first, third = x, fourth = bytes: copies of inputs
/// and of a result.
ProgramBuilder copiesProgram() {
  ProgramBuilder b;
  uint32_t n = b.symbol(0), size = b.times(n, b.constant(4));
  uint32_t x = b.input("x", {n});
  uint32_t bytes = b.input("bytes", {n}, graph::InputKind::data, DType::u8);
  uint32_t s = b.input("s", {}, graph::InputKind::scalar);
  uint32_t first = b.output({n}), second = b.output({n}), third = b.output({n});
  uint32_t fourth = b.output({n}, DType::u8);
  uint32_t scale = b.kernel("map_scale", 2, 1, 1, {"scale"});
  b.launch(scale, {x, s, first}, {n});
  b.copy(first, second, size);
  b.copy(x, third, size);
  b.copy(bytes, fourth, n);
  return b;
}

std::shared_ptr<const Program> loaded(const ProgramBuilder &builder) {
  auto program =
      Program::load(conformance::forDevice(gpu().id(), builder).file(), gpu());
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : nullptr;
}

/// Inputs and what comes of them.
struct Step {
  std::vector<float> x;
  std::vector<uint8_t> bytes;
  std::vector<Binding> inputs;

  Step(size_t n, int seed) : x(n), bytes(n) {
    std::iota(x.begin(), x.end(), float(seed));
    std::iota(bytes.begin(), bytes.end(), uint8_t(seed));
    inputs = {bind(bufferOf(gpu(), x), {int64_t(n)}),
              bind(bufferOf(gpu(), bytes), {int64_t(n)}), bindScalar(3)};
  }

  void check(const std::vector<Output> &outputs) const {
    std::vector<float> scaled = x;
    for (float &each : scaled)
      each *= 3;
    EXPECT_EQ(valuesOf<float>(*outputs[0].buffer), scaled);
    EXPECT_EQ(valuesOf<float>(*outputs[1].buffer), scaled);
    EXPECT_EQ(valuesOf<float>(*outputs[2].buffer), x);
    EXPECT_EQ(valuesOf<uint8_t>(*outputs[3].buffer), bytes);
  }
};

/// All that makes or records something.
uint64_t callsThatMake() {
  uint64_t calls = 0;
  for (const char *name :
       {"vkAllocateMemory", "vkFreeMemory", "vkCreateBuffer",
        "vkCreateCommandPool", "vkAllocateCommandBuffers",
        "vkCreateShaderModule", "vkCreateComputePipelines",
        "vkResetCommandPool", "vkBeginCommandBuffer", "vkCmdDispatch",
        "vkCmdCopyBuffer", "vkCmdPipelineBarrier2", "vkMapMemory"})
    calls += vulkanCalls(name);
  return calls;
}

} // namespace

TEST(VulkanReplay, newInputsRecordNothing) {
  auto program = loaded(copiesProgram());
  ASSERT_TRUE(program);
  for (size_t n : {1000, 999, 5}) { // units of sixteen, four and one byte
    constexpr int inputs = 9, runs = 1000, warm = 2; // launched, recorded
    std::vector<Step> steps;
    for (int i = 0; i < inputs; ++i)
      steps.emplace_back(n, i);
    auto step = [&](int i) {
      auto outputs = run(*program, steps[size_t(i % inputs)].inputs);
      EXPECT_TRUE(outputs) << outputs.error().message;
      return *std::move(outputs);
    };
    for (int i = 0; i < warm; ++i)
      step(i);
    uint64_t made = callsThatMake(), submits = vulkanCalls("vkQueueSubmit2");
    std::vector<std::pair<int, std::vector<Output>>> kept;
    for (int i = 0; i < runs; ++i) {
      auto outputs = step(i);
      if (i % 200 == i / 200)
        kept.emplace_back(i, std::move(outputs));
    }
    EXPECT_EQ(callsThatMake(), made);
    EXPECT_EQ(vulkanCalls("vkQueueSubmit2"), submits + runs);
    for (auto &[i, outputs] : kept)
      steps[size_t(i % inputs)].check(outputs);
  }
}

TEST(VulkanReplay, recordsOnceWhereResultsAreRead) {
  auto program = loaded(copiesProgram());
  std::vector<Step> steps;
  for (int i = 0; i < 4; ++i)
    steps.emplace_back(64, i);
  uint64_t dispatches = 0;
  for (int i = 0; i < 20; ++i) {
    if (i == 2) // launched one by one, then recorded
      dispatches = vulkanCalls("vkCmdDispatch");
    auto outputs = run(*program, steps[size_t(i % 4)].inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    steps[size_t(i % 4)].check(*outputs);
  }
  EXPECT_EQ(vulkanCalls("vkCmdDispatch"), dispatches);
}

TEST(VulkanReplay, copiesOfOtherAlignment) {
  // Parts of one buffer: a graph whose copy moves from words to bytes.
  std::vector<uint8_t> values(256);
  std::iota(values.begin(), values.end(), uint8_t(0));
  BufferRef from = bufferOf(gpu(), values);
  BufferRef to = bufferOf(gpu(), std::vector<uint8_t>(256));
  auto at = [](const BufferRef &buffer, size_t offset) {
    return static_cast<std::byte *>(buffer->data()) + offset;
  };
  std::vector<GraphNode> nodes(1);
  nodes[0].copy = {at(to, 0), at(from, 0), 16};
  auto graph = gpu().makeGraph(nodes, {});
  ASSERT_TRUE(graph) << graph.error().message;
  for (size_t offset : {0, 16, 4, 5, 3, 8, 32}) {
    ASSERT_TRUE(gpu().copyIn(*to, 0, std::vector<std::byte>(256)));
    ASSERT_TRUE(
        (*graph)->setCopy(0, {at(to, 2 * offset), at(from, offset), 16}));
    ASSERT_TRUE((*graph)->launch());
    std::vector<uint8_t> want(256);
    std::copy_n(values.begin() + ptrdiff_t(offset), 16,
                want.begin() + 2 * ptrdiff_t(offset));
    EXPECT_EQ(valuesOf<uint8_t>(*to), want) << offset;
  }
}

TEST(VulkanProfile, takesTheDevicesTimes) {
  auto program = loaded(copiesProgram());
  Step step(5000, 1);
  setProfiling(true);
  resetProfile();
  uint64_t times = vulkanCalls("vkCmdWriteTimestamp2");
  for (int i = 0; i < 3; ++i) {
    auto outputs = run(*program, step.inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    step.check(*outputs);
  }
  EXPECT_EQ(vulkanCalls("vkCmdWriteTimestamp2"), times + 3 * 4 * 2);
  std::vector<StepProfile> steps = stepProfiles();
  EXPECT_EQ(steps.size(), 4u);
  for (const StepProfile &each : steps) {
    EXPECT_EQ(each.runs, 3u);
    EXPECT_GT(each.least, 0u);
  }
  failVulkanCall("vkGetQueryPoolResults", -1);
  auto outputs = run(*program, step.inputs);
  healVulkan();
  setProfiling(false);
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().message,
            "map_scale: vulkan:0: vkGetQueryPoolResults: "
            "VK_ERROR_OUT_OF_HOST_MEMORY");
  // Nothing is timed any longer: a launch begins at once.
  uint64_t submits = vulkanCalls("vkQueueSubmit2");
  ASSERT_TRUE(gpu().synchronize());
  ASSERT_TRUE(run(*loaded(copiesProgram()), step.inputs));
  EXPECT_GT(vulkanCalls("vkQueueSubmit2"), submits);
  EXPECT_EQ(vulkanCalls("vkCmdWriteTimestamp2"), times + 3 * 4 * 2 + 2);
}
