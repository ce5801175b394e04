/// Finds out about devices and opens them.
#include "runtime/device/vulkan/VulkanGpu.h"

#include "runtime/device/vulkan/VulkanMatrices.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

// VkSubgroupFeatureFlagBits: basic, vote, shuffle.
constexpr Flags neededSubgroupOperations = 1 | 2 | 16;
constexpr uint32_t nvidiaDriver = 4; // VK_DRIVER_ID_NVIDIA_PROPRIETARY
constexpr uint32_t isDiscrete = 2, isIntegrated = 1, isVirtual = 3;

constexpr const char *budgetExtension = "VK_EXT_memory_budget";

/// What is asked of a device, and what it has: one chain.
struct FeatureChain {
  Features features;
  Features11 features11;
  Features12 features12;
  Features13 features13;

  FeatureChain() {
    features.next = &features11;
    features11.next = &features12;
    features12.next = &features13;
  }
  FeatureChain(const FeatureChain &) = delete;
};

/// The first family of queues that computes is noted, if there is one.
bool findFamily(const Loader &loader, PhysicalDevice physical,
                VulkanAbout &about) {
  uint32_t count = 0;
  loader.queueFamilies(physical, &count, nullptr);
  std::vector<QueueFamily> families(count);
  loader.queueFamilies(physical, &count, families.data());
  // Batches follow each other sooner on a queue that does nothing else (H200:
  // by 8 microseconds each).
  auto isFound = [](Flags wanted) {
    return [wanted](const QueueFamily &family) {
      return (family.flags & (computeQueue | graphicsQueue)) == wanted;
    };
  };
  auto found = std::ranges::find_if(families, isFound(computeQueue));
  if (found == families.end())
    found =
        std::ranges::find_if(families, isFound(computeQueue | graphicsQueue));
  if (found == families.end())
    return false;
  about.family = uint32_t(found - families.begin());
  about.timestampBits = found->timestampBits;
  return true;
}

bool hasExtension(const Loader &loader, PhysicalDevice physical,
                  std::string_view name) {
  uint32_t count = 0;
  if (loader.listExtensions(physical, nullptr, &count, nullptr) != success)
    return false;
  std::vector<ExtensionProperties> all(count);
  if (loader.listExtensions(physical, nullptr, &count, all.data()) < success)
    return false;
  return std::ranges::any_of(
      all, [&](const ExtensionProperties &each) { return each.name == name; });
}

std::string whatIsMissing(const FeatureChain &chain) {
  std::string list;
  auto need = [&](bool has, const char *name) {
    if (!has)
      list += (list.empty() ? "it lacks " : ", ") + std::string(name);
  };
  need(chain.features12.addresses, "bufferDeviceAddress");
  need(chain.features12.timelines, "timelineSemaphore");
  need(chain.features13.synchronization, "synchronization2");
  return list;
}

uint32_t knownSubgroup(const FeatureChain &chain,
                       const Properties11 &properties,
                       const Properties13 &subgroups) {
  bool isKnown = chain.features13.subgroupSizes &&
                 (subgroups.subgroupStages & computeStage) &&
                 chain.features13.wholeSubgroups &&
                 (properties.subgroupOperations & neededSubgroupOperations) ==
                     neededSubgroupOperations &&
                 properties.subgroupSize >= 4 && properties.subgroupSize <= 64;
  return isKnown ? properties.subgroupSize : 0;
}

VulkanAbout describe(const Loader &loader, PhysicalDevice physical) {
  Properties properties;
  Properties11 properties11;
  Properties12 properties12;
  Properties13 properties13;
  VulkanAbout about;
  about.physical = physical;
  loader.properties(physical, &properties);
  about.name = properties.name;
  about.version = properties.apiVersion;
  about.vendor = properties.vendor;
  about.deviceId = properties.device;
  about.type = properties.type;
  if (properties.apiVersion < version13) {
    about.reason = fmt::format("it has Vulkan {}.{}, not 1.3",
                               properties.apiVersion >> 22 & 0x7f,
                               properties.apiVersion >> 12 & 0x3ff);
    return about;
  }
  properties.next = &properties11;
  properties11.next = &properties12;
  properties12.next = &properties13;
  loader.properties(physical, &properties);
  FeatureChain chain;
  loader.features(physical, &chain.features);
  about.driver =
      fmt::format("{} {}", properties12.driverName, properties12.driverInfo);
  about.subgroup = knownSubgroup(chain, properties11, properties13);
  about.sharedBytes = properties.limits.sharedBytes;
  about.mostThreads = std::min(properties.limits.mostThreads,
                               properties.limits.mostThreadsAlong[0]);
  about.mostGroups = std::ranges::min(properties.limits.mostGroups);
  about.mostAllocation = properties11.mostAllocation;
  about.int8 = chain.features12.int8 && chain.features12.storage8;
  about.int16 = chain.features.int16 && chain.features11.storage16;
  about.int64 = chain.features.int64;
  about.float64 = chain.features.float64;
  about.atomic64 = about.int64 && chain.features12.atomic64;
  about.keepsNan = properties12.keepsNan32;
  about.keepsDenormals = properties12.keepsDenormals32;
  about.isNvidia = properties12.driver == nvidiaDriver;
  about.hasBudget = hasExtension(loader, physical, budgetExtension);
  about.matrices =
      about.int64 && about.subgroup > 0 &&
      std::ranges::all_of(matrixExtensions,
                          [&](const char *name) {
                            return hasExtension(loader, physical, name);
                          }) &&
      multipliesHalves(loader, physical);
  std::memcpy(about.cacheId, properties.cacheId, sizeof(about.cacheId));
  about.reason = whatIsMissing(chain);
  about.timestampPeriod = properties.limits.timestampPeriod;
  if (!findFamily(loader, physical, about) && about.reason.empty())
    about.reason = "it has no queue that computes";
  return about;
}

// Those that can be used first, then discrete ones, then other GPUs.
int orderOf(const VulkanAbout &about) {
  int order = about.type == isDiscrete     ? 0
              : about.type == isIntegrated ? 1
              : about.type == isVirtual    ? 2
                                           : 3;
  return about.reason.empty() ? order : order + 4;
}

Result<std::vector<VulkanAbout>> listDevices(const Loader &loader) {
  const char *what = "vkEnumeratePhysicalDevices";
  uint32_t count = 0;
  SINTER_TRY(check(what, loader.listDevices(loader.instance, &count, nullptr)));
  std::vector<PhysicalDevice> physical(count);
  SINTER_TRY(check(
      what, loader.listDevices(loader.instance, &count, physical.data())));
  std::vector<VulkanAbout> all;
  for (PhysicalDevice each : physical)
    all.push_back(describe(loader, each));
  std::ranges::stable_sort(all, {}, orderOf);
  return all;
}

// The type of memory that has all of `needed` and as many as can be of
// `wanted`, or nothing.
std::optional<uint32_t> memoryType(const MemoryProperties &memory,
                                   uint32_t allowed, Flags needed,
                                   Flags wanted) {
  std::optional<uint32_t> best;
  int most = -1;
  for (uint32_t type = 0; type < memory.typeCount; ++type) {
    Flags flags = memory.types[type].flags;
    if (!(allowed >> type & 1) || (flags & needed) != needed)
      continue;
    int has = __builtin_popcount(flags & wanted);
    if (has > most) {
      best = type;
      most = has;
    }
  }
  return best;
}

Code bindBlock(const VulkanGpu &gpu, VulkanPlace place, VulkanBlock &block) {
  const Loader &loader = gpu.loader;
  MemoryRequirements needs;
  loader.requirements(gpu.device, block.buffer, &needs);
  MemoryProperties memory;
  loader.memoryProperties(gpu.about.physical, &memory);
  constexpr Flags hosts = hostVisible | hostCoherent;
  bool isOfHost = place != VulkanPlace::device;
  Flags wanted = place == VulkanPlace::readback ? hostCached
                 : place == VulkanPlace::upload ? 0
                                                : deviceLocal;
  auto allocate = [&](Flags wanted) {
    std::optional<uint32_t> type =
        memoryType(memory, needs.types, isOfHost ? hosts : deviceLocal, wanted);
    if (!type)
      return outOfDeviceMemory;
    AllocateFlags flags;
    AllocateInfo info;
    info.next = &flags;
    info.bytes = needs.bytes;
    info.type = *type;
    return loader.allocate(gpu.device, &info, nullptr, &block.memory);
  };
  Code code = allocate(wanted);
  if (code == outOfDeviceMemory && place == VulkanPlace::arguments)
    code = allocate(0);
  if (code == success)
    code = loader.bind(gpu.device, block.buffer, block.memory, 0);
  if (code == success && isOfHost) {
    void *mapped = nullptr;
    code = loader.map(gpu.device, block.memory, 0, needs.bytes, 0, &mapped);
    block.mapped = static_cast<std::byte *>(mapped);
  }
  return code;
}

} // namespace

void sinter::runtime::addBarrier(const VulkanGpu &gpu, CommandBuffer commands,
                                 VulkanOrder order) {
  bool copies = order != VulkanOrder::kernels;
  MemoryBarrier barrier;
  barrier.fromStage = barrier.toStage = kernels | (copies ? transfers : 0);
  barrier.fromAccess = storageWrite | (copies ? transferWrite : 0);
  barrier.toAccess =
      barrier.fromAccess | storageRead | (copies ? transferRead : 0);
  if (order == VulkanOrder::host) {
    barrier.toStage = hostStage;
    barrier.toAccess = hostRead;
  }
  DependencyInfo info;
  info.memoryCount = 1;
  info.memory = &barrier;
  gpu.loader.barrier(commands, &info);
}

const Result<std::vector<VulkanAbout>> &
sinter::runtime::vulkanDevices(const Loader &loader) {
  static const auto &all =
      *new Result<std::vector<VulkanAbout>>(listDevices(loader));
  return all;
}

Result<VulkanGpu> VulkanGpu::open(const Loader &loader,
                                  const VulkanAbout &about) {
  FeatureChain chain;
  chain.features.float64 = about.float64;
  chain.features.int64 = about.int64;
  chain.features.int16 = about.int16;
  chain.features11.storage16 = about.int16;
  chain.features12.int8 = chain.features12.storage8 = about.int8;
  chain.features12.atomic64 = about.atomic64;
  chain.features12.timelines = chain.features12.addresses = 1;
  chain.features13.subgroupSizes = chain.features13.wholeSubgroups =
      about.subgroup > 0;
  chain.features13.synchronization = 1;
  MatrixFeatures matrices;
  matrices.ask();
  std::vector<const char *> extensions;
  if (about.hasBudget)
    extensions.push_back(budgetExtension);
  if (about.matrices) {
    chain.features12.float16 = chain.features12.memoryModel = 1;
    chain.features12.memoryModelOfDevice = 1;
    chain.features13.next = &matrices.matrices;
    extensions.insert(extensions.end(), std::begin(matrixExtensions),
                      std::end(matrixExtensions));
  }
  const float priority = 1;
  QueueCreateInfo queue;
  queue.family = about.family;
  queue.priorities = &priority;
  DeviceCreateInfo info;
  info.next = &chain.features;
  info.queues = &queue;
  info.extensionCount = uint32_t(extensions.size());
  info.extensions = extensions.data();
  VulkanGpu gpu{loader, about};
  SINTER_TRY(
      check("vkCreateDevice",
            loader.createDevice(about.physical, &info, nullptr, &gpu.device)));
  loader.getQueue(gpu.device, about.family, 0, &gpu.queue);
  return gpu;
}

Code sinter::runtime::makeBlock(const VulkanGpu &gpu, uint64_t bytes,
                                VulkanPlace place, VulkanBlock &block) {
  block = {};
  if (bytes > gpu.about.mostAllocation)
    return outOfDeviceMemory;
  BufferCreateInfo info;
  info.bytes = bytes;
  info.usage = transferFrom | transferTo | storage | addressed;
  Code code =
      gpu.loader.createBuffer(gpu.device, &info, nullptr, &block.buffer);
  if (code == success)
    code = bindBlock(gpu, place, block);
  if (code != success) {
    freeBlock(gpu, block);
    return code;
  }
  BufferAddressInfo which;
  which.buffer = block.buffer;
  block.address = gpu.loader.address(gpu.device, &which);
  block.bytes = bytes;
  return success;
}

void sinter::runtime::freeBlock(const VulkanGpu &gpu, VulkanBlock &block) {
  if (block.buffer)
    gpu.loader.destroyBuffer(gpu.device, block.buffer, nullptr);
  if (block.memory)
    gpu.loader.free(gpu.device, block.memory, nullptr);
  block = {};
}

VulkanHeap sinter::runtime::deviceHeap(const VulkanGpu &gpu) {
  MemoryBudget budget;
  MemoryProperties memory;
  if (gpu.about.hasBudget)
    memory.next = &budget;
  gpu.loader.memoryProperties(gpu.about.physical, &memory);
  VulkanHeap heap;
  uint64_t left = 0;
  for (uint32_t i = 0; i < memory.heapCount; ++i) {
    if (!(memory.heaps[i].flags & deviceLocal))
      continue;
    heap.total += memory.heaps[i].bytes;
    left += budget.budget[i] - std::min(budget.budget[i], budget.usage[i]);
  }
  if (gpu.about.hasBudget)
    heap.available = left;
  return heap;
}
