/// What fails of Vulkan is an error that says what and where; the process, and
/// other devices, go on.
#include "runtime/device/Device.h"
#include "runtime/device/vulkan/PipelineFile.h"
#include "runtime/files/DiskCache.h"
#include "tests/vulkan/FaultyVulkan.h"
#include "tests/vulkan/InChild.h"

#include <sinter/Basic.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <gtest/gtest.h>

namespace sn = sinter;
using namespace sinter::runtime;
using sinter::test::inChild;

namespace {

constexpr int outOfHostMemory = -1, outOfDeviceMemory = -2, failed = -3,
              lost = -4, unknown = -13, invalidShader = -1000012000;
constexpr sn::DeviceId onVulkan{sn::DeviceKind::vulkan, 0};

/// Libraries whose name begins so are not there.
const char *hidden = nullptr;

} // namespace

/// Stands before the C library's, for this program and the libraries it uses.
extern "C" void *dlopen(const char *name, int flags) {
  static auto *real = reinterpret_cast<void *(*)(const char *, int)>(
      dlsym(RTLD_NEXT, "dlopen"));
  if (hidden && name && std::strncmp(name, hidden, std::strlen(hidden)) == 0)
    return nullptr;
  return real(name, flags);
}

namespace {

/// What a call throws; of kind `internal` where it does not.
template <typename Body> sn::Error errorOf(Body body) {
  try {
    body();
  } catch (const sn::Error &error) {
    return error;
  }
  return sn::Error(
      sn::ErrorInfo{sn::ErrorKind::internal, "nothing was thrown", {}, {}, 0});
}

bool has(const std::string &text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// A value of a program of its own for each `width`.
float computeOn(sn::DeviceId device, int64_t width = 8) {
  sn::Tensor x = sn::full({width}, 3.f, {.device = device});
  return sn::sum(sn::sqrt(x * x + 16.f)).item<float>();
}

void expectCpuWorks() { EXPECT_EQ(computeOn({sn::DeviceKind::cpu, 0}, 4), 20); }

} // namespace

//===- Opening ------------------------------------------------------------===//

TEST(VulkanFaults, noLoader) {
  inChild([] {
    hidden = "libvulkan.so.1";
    sn::Error error = errorOf([] { computeOn(onVulkan); });
    EXPECT_EQ(error.kind(), sn::ErrorKind::device);
    EXPECT_EQ(error.message(),
              "device vulkan:0 is not available: libvulkan.so.1 not found");
    EXPECT_EQ(errorOf([] { computeOn(onVulkan); }).message(), error.message());
    EXPECT_EQ(std::ranges::count(availableDevices(), sn::DeviceKind::vulkan,
                                 &sn::DeviceId::kind),
              0);
    expectCpuWorks();
  });
}

TEST(VulkanFaults, noDriver) {
  inChild([] {
    setenv("VK_DRIVER_FILES", "/nowhere.json", 1);
    setenv("VK_ICD_FILENAMES", "/nowhere.json", 1); // loaders before 1.3.207
    sn::Error error = errorOf([] { computeOn(onVulkan); });
    EXPECT_EQ(error.kind(), sn::ErrorKind::device);
    EXPECT_EQ(error.message(), "device vulkan:0 is not available: "
                               "libvulkan.so.1 knows no driver");
    expectCpuWorks();
  });
}

TEST(VulkanFaults, aLoaderThatListsNoDevices) {
  inChild([] {
    failVulkanCall("vkEnumeratePhysicalDevices", failed);
    sn::Error error = errorOf([] { computeOn(onVulkan); });
    EXPECT_EQ(error.message(), "device vulkan:0 is not available: "
                               "vkEnumeratePhysicalDevices: "
                               "VK_ERROR_INITIALIZATION_FAILED");
    expectCpuWorks();
  });
}

TEST(VulkanFaults, aDeviceThatDoesNotOpen) {
  inChild([] {
    for (const char *call :
         {"vkCreateDevice", "vkCreateSemaphore", "vkCreatePipelineLayout",
          "vkCreatePipelineCache"}) {
      failVulkanCall(call, outOfHostMemory);
      sn::Error error = errorOf([] { computeOn(onVulkan); });
      EXPECT_TRUE(has(error.message(), "device vulkan:0 is not available: "))
          << error.message();
      EXPECT_TRUE(has(error.message(),
                      std::string(call) + ": VK_ERROR_OUT_OF_HOST_MEMORY"))
          << error.message();
      expectCpuWorks();
      healVulkan();
    }
    EXPECT_EQ(vulkanCalls("vkDestroyDevice"), 3u); // those that were made
    EXPECT_EQ(computeOn(onVulkan), 40);
  });
}

//===- A lost device ------------------------------------------------------===//

/// After a loss every use gives one error, and what is left can be destroyed.
static void useLost(const char *call) {
  sn::Tensor before = sn::full({8}, 2.f, {.device = onVulkan});
  EXPECT_EQ(before.to_vector<float>(), std::vector<float>(8, 2.f));
  for (int i = 0; i < 3; ++i) // recorded, too
    EXPECT_EQ(computeOn(onVulkan), 40);
  if (call)
    failVulkanCall(call, lost);
  else
    loseVulkanDevice();
  sn::Error error = errorOf([] { computeOn(onVulkan); });
  EXPECT_EQ(error.kind(), sn::ErrorKind::device);
  EXPECT_TRUE(has(error.message(), "vulkan:0: the device is lost: vk"))
      << error.message();
  EXPECT_TRUE(has(error.message(), ": VK_ERROR_DEVICE_LOST"));
  EXPECT_TRUE(has(error.what(), "FaultsTest.cpp:")) << error.what();
  healVulkan(); // it stays lost
  auto again = [&](auto body) {
    EXPECT_EQ(errorOf(body).message(), error.message());
  };
  again([] { computeOn(onVulkan); });
  again([] { computeOn(onVulkan, 9); }); // compiled for it
  again([&] { before.to_vector<float>(); });
  again([] { sn::synchronize(onVulkan); });
  again(
      [] { sn::tensor({1.f, 2.f}, {.device = onVulkan}).to_vector<float>(); });
  expectCpuWorks();
}

TEST(VulkanFaults, aDeviceThatIsLost) {
  inChild([] { useLost(nullptr); });
}
TEST(VulkanFaults, aLossThatIsSeenWhenWorkIsSubmitted) {
  inChild([] { useLost("vkQueueSubmit2"); });
}
TEST(VulkanFaults, aLossThatIsSeenWhenSomebodyLooks) {
  inChild([] { useLost("vkGetSemaphoreCounterValue"); });
}

TEST(VulkanFaults, aLossIsOfTheKernelThatRan) {
  inChild([] {
    setenv("SINTER_PROFILE", "1", 1);
    sn::Tensor x = sn::full({50}, 3.f, {.device = onVulkan});
    EXPECT_EQ(x.to_vector<float>()[0], 3);
    loseVulkanDevice("vkCmdDispatch");
    int line = __LINE__ + 1;
    sn::Tensor y = sn::tanh(x);
    sn::Error error = errorOf([&] { y.to_vector<float>(); });
    EXPECT_TRUE(has(error.message(), "tanh: vulkan:0: the device is lost"))
        << error.message();
    EXPECT_TRUE(has(error.site(), "FaultsTest.cpp:" + std::to_string(line)))
        << error.what();
  });
}

//===- Memory -------------------------------------------------------------===//

TEST(VulkanFaults, noMemoryForABuffer) {
  inChild([] {
    EXPECT_EQ(computeOn(onVulkan), 40);
    failVulkanCall("vkAllocateMemory", outOfDeviceMemory);
    sn::Tensor x = sn::full({5'000'000}, 3.f, {.device = onVulkan});
    sn::Error error = errorOf([&] { x.to_vector<float>(); });
    EXPECT_EQ(error.kind(), sn::ErrorKind::out_of_memory);
    EXPECT_TRUE(has(error.message(), "vulkan:0: cannot allocate "))
        << error.message();
    expectCpuWorks();
    healVulkan();
    EXPECT_EQ(x.to_vector<float>()[4'999'999], 3);
  });
}

TEST(VulkanFaults, noMemoryAtAnyPlace) {
  inChild([] {
    constexpr uint64_t most = 20;
    uint64_t working = 0; // allocations, then no more
    for (; working < most; ++working) {
      failVulkanCall("vkAllocateMemory", outOfHostMemory, working);
      uint64_t before = vulkanCalls("vkAllocateMemory");
      sn::Error error = errorOf([] { computeOn(onVulkan); });
      if (vulkanCalls("vkAllocateMemory") - before <= working)
        break;
      EXPECT_EQ(error.kind(), sn::ErrorKind::out_of_memory) << error.message();
      EXPECT_TRUE(has(error.message(), "vulkan:0: ")) << error.message();
      expectCpuWorks();
    }
    EXPECT_GE(working, 2u); // of the device, of the host
    EXPECT_LT(working, most);
    healVulkan();
    EXPECT_EQ(computeOn(onVulkan), 40);
  });
}

TEST(VulkanFaults, noMemoryForASubmission) {
  inChild([] {
    EXPECT_EQ(computeOn(onVulkan), 40);
    for (int i = 0; i < 5; ++i) {
      sn::Tensor x = sn::full({16}, float(i), {.device = onVulkan});
      sn::Tensor y = x * 2.f;
      failVulkanCall("vkQueueSubmit2", outOfHostMemory);
      sn::Error error = errorOf([&] { y.to_vector<float>(); });
      EXPECT_EQ(error.kind(), sn::ErrorKind::out_of_memory);
      EXPECT_EQ(error.message(),
                "vulkan:0: vkQueueSubmit2: VK_ERROR_OUT_OF_HOST_MEMORY");
      healVulkan();
      EXPECT_EQ(y.to_vector<float>(), std::vector<float>(16, 2.f * float(i)));
    }
  });
}

//===- Shaders ------------------------------------------------------------===//

TEST(VulkanFaults, aShaderThatTheDriverRefuses) {
  inChild([] {
    EXPECT_EQ(computeOn(onVulkan), 40);
    sn::Tensor x = sn::full({70}, 3.f, {.device = onVulkan});
    int line = __LINE__ + 1;
    sn::Tensor y = sn::sin(x) + 1.f;
    for (auto [call, code, name] :
         {std::tuple("vkCreateComputePipelines", unknown, "VK_ERROR_UNKNOWN"),
          std::tuple("vkCreateShaderModule", invalidShader,
                     "VK_ERROR_INVALID_SHADER_NV")}) {
      failVulkanCall(call, code);
      sn::Error error = errorOf([&] { y.to_vector<float>(); });
      EXPECT_EQ(error.kind(), sn::ErrorKind::device);
      EXPECT_TRUE(has(error.message(), "vulkan:0: cannot load an image: "
                                       "kernel "))
          << error.message();
      EXPECT_TRUE(has(error.message(), std::string(": ") + call + ": " + name))
          << error.message();
      EXPECT_TRUE(has(error.site(), "FaultsTest.cpp:" + std::to_string(line)))
          << error.what();
      healVulkan();
      EXPECT_EQ(computeOn(onVulkan), 40);
      expectCpuWorks();
    }
    EXPECT_NEAR(y.to_vector<float>()[69], 1.14112f, 1e-4f);
  });
}

//===- What the driver kept -----------------------------------------------===//

static Key pipelineKey() {
  auto loader = vulkan::Loader::open();
  VulkanGpu gpu{**loader, vulkanDevices(**loader)->front()};
  return PipelineFile(gpu).key();
}

TEST(VulkanFaults, aFileOfPipelinesOfAnotherDriver) {
  inChild([] {
    DiskCache disk = DiskCache::fromEnvironment();
    ASSERT_TRUE(disk.prepare());
    std::vector<std::byte> foreign(100, std::byte(7));
    ASSERT_TRUE(disk.storeBytes(CacheKind::pipelines, pipelineKey(), foreign));
    EXPECT_EQ(computeOn(onVulkan), 40);
    auto kept =
        disk.findBytes(CacheKind::pipelines, pipelineKey()); // in its place
    ASSERT_TRUE(kept && *kept);
    EXPECT_NE(**kept, foreign);
  });
}

TEST(VulkanFaults, aFileOfPipelinesThatIsBroken) {
  inChild([] {
    EXPECT_EQ(computeOn(onVulkan), 40);
    std::string path = DiskCache::fromEnvironment().bytesPath(
        CacheKind::pipelines, pipelineKey());
    ASSERT_TRUE(std::filesystem::exists(path));
    std::filesystem::resize_file(path, 40);
  });
  inChild([] { EXPECT_EQ(computeOn(onVulkan), 40); });
}

TEST(VulkanFaults, aFileOfPipelinesThatTheDriverRefuses) {
  inChild([] { EXPECT_EQ(computeOn(onVulkan), 40); }); // there is one now
  inChild([] {
    // That without the file's works.
    failVulkanCall("vkCreatePipelineCache", failed, /*working=*/0,
                   /*failing=*/1);
    EXPECT_EQ(computeOn(onVulkan), 40);
    EXPECT_EQ(vulkanCalls("vkCreatePipelineCache"), 2u);
  });
}
