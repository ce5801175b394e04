/// Api: what of Vulkan 1.3 is used. Nothing of an SDK is needed to build or to
/// run.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::vulkan {

// Vulkan's own types, as its ABI has them (Vulkan specification 1.3). Handles
// that are pointers and those that are numbers are told apart there, too.
using Code = int; ///< VkResult; 0 is success, below 0 are errors
using Flags = uint32_t;
using Flags64 = uint64_t;
using Bool = uint32_t;
using Instance = struct InstanceTag *;
using PhysicalDevice = struct PhysicalDeviceTag *;
using Device = struct DeviceTag *;
using Queue = struct QueueTag *;
using CommandBuffer = struct CommandBufferTag *;
using Memory = struct MemoryTag *;
using Buffer = struct BufferTag *;
using Semaphore = struct SemaphoreTag *;
using CommandPool = struct CommandPoolTag *;
using ShaderModule = struct ShaderModuleTag *;
using PipelineLayout = struct PipelineLayoutTag *;
using PipelineCache = struct PipelineCacheTag *;
using Pipeline = struct PipelineTag *;
using QueryPool = struct QueryPoolTag *;

/// Results that are looked at.
inline constexpr Code success = 0;
inline constexpr Code timedOut = 2;
inline constexpr Code outOfHostMemory = -1;
inline constexpr Code outOfDeviceMemory = -2;
inline constexpr Code deviceLost = -4;
inline constexpr Code noDriver = -9; ///< VK_ERROR_INCOMPATIBLE_DRIVER

/// The kinds of structures (VkStructureType).
enum class Kind : uint32_t {
  applicationInfo = 0,
  instanceCreateInfo = 1,
  deviceQueueCreateInfo = 2,
  deviceCreateInfo = 3,
  memoryAllocateInfo = 5,
  queryPoolCreateInfo = 11,
  bufferCreateInfo = 12,
  shaderModuleCreateInfo = 16,
  pipelineCacheCreateInfo = 17,
  pipelineShaderStageCreateInfo = 18,
  computePipelineCreateInfo = 29,
  pipelineLayoutCreateInfo = 30,
  commandPoolCreateInfo = 39,
  commandBufferAllocateInfo = 40,
  commandBufferBeginInfo = 42,
  semaphoreCreateInfo = 9,
  vulkan11Features = 49,
  vulkan11Properties = 50,
  vulkan12Features = 51,
  vulkan12Properties = 52,
  vulkan13Features = 53,
  vulkan13Properties = 54,
  bfloat16Features = 1000141000,
  cooperativeMatrixFeatures = 1000506000,
  cooperativeMatrixProperties = 1000506001,
  features2 = 1000059000,
  properties2 = 1000059001,
  memoryProperties2 = 1000059006,
  memoryAllocateFlagsInfo = 1000060000,
  semaphoreTypeCreateInfo = 1000207002,
  semaphoreWaitInfo = 1000207004,
  requiredSubgroupSize = 1000225001,
  memoryBudget = 1000237000,
  bufferDeviceAddressInfo = 1000244001,
  memoryBarrier2 = 1000314000,
  dependencyInfo = 1000314003,
  submitInfo2 = 1000314004,
  semaphoreSubmitInfo = 1000314005,
  commandBufferSubmitInfo = 1000314006,
};

/// What every structure begins with.
template <Kind K> struct Header {
  Kind kind = K;
  const void *next = nullptr;
};

inline constexpr uint32_t version13 = 1u << 22 | 3u << 12;

struct ApplicationInfo : Header<Kind::applicationInfo> {
  const char *name = nullptr;
  uint32_t version = 0;
  const char *engine = nullptr;
  uint32_t engineVersion = 0;
  uint32_t apiVersion = version13;
};

struct InstanceCreateInfo : Header<Kind::instanceCreateInfo> {
  Flags flags = 0;
  const ApplicationInfo *application = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
};

/// VkPhysicalDeviceLimits, by the offsets of what is looked at.
struct Limits {
  uint32_t unused0[54];
  uint32_t sharedBytes; ///< maxComputeSharedMemorySize
  uint32_t mostGroups[3];
  uint32_t mostThreads;         ///< maxComputeWorkGroupInvocations
  uint32_t mostThreadsAlong[3]; ///< maxComputeWorkGroupSize
  uint32_t unused1[44];
  float timestampPeriod; ///< nanoseconds
  uint32_t unused2[19];
};

struct Properties : Header<Kind::properties2> {
  uint32_t apiVersion = 0;
  uint32_t driverVersion = 0;
  uint32_t vendor = 0;
  uint32_t device = 0;
  uint32_t type = 0; ///< VkPhysicalDeviceType
  char name[256] = "";
  uint8_t cacheId[16] = {}; ///< pipelineCacheUUID
  alignas(8) Limits limits = {};
  Bool sparse[5] = {};
};

struct Properties11 : Header<Kind::vulkan11Properties> {
  uint8_t deviceId[16] = {}, driverId[16] = {}, luid[8] = {};
  uint32_t nodeMask = 0;
  Bool luidValid = 0;
  uint32_t subgroupSize = 0;
  Flags subgroupStages = 0;
  Flags subgroupOperations = 0;
  Bool quadInAllStages = 0;
  uint32_t pointClipping = 0, mostViews = 0, mostInstances = 0;
  Bool protectedNoFault = 0;
  uint32_t mostSetDescriptors = 0;
  uint64_t mostAllocation = 0; ///< maxMemoryAllocationSize
};

struct Properties12 : Header<Kind::vulkan12Properties> {
  uint32_t driver = 0;
  char driverName[256] = "", driverInfo[256] = "";
  uint8_t conformance[4] = {};
  uint32_t denormIndependence = 0, roundingIndependence = 0;
  Bool keepsNan16 = 0, keepsNan32 = 0, keepsNan64 = 0;
  Bool keepsDenormals16 = 0, keepsDenormals32 = 0, keepsDenormals64 = 0;
  uint32_t unused[41] = {};
};

struct Properties13 : Header<Kind::vulkan13Properties> {
  uint32_t leastSubgroup = 0, mostSubgroup = 0, mostSubgroups = 0;
  Flags subgroupStages = 0; ///< requiredSubgroupSizeStages
  uint32_t unused[46] = {};
};

/// VkPhysicalDeviceFeatures2 without its names but for those that are used.
struct Features : Header<Kind::features2> {
  Bool unused0[39] = {};
  Bool float64 = 0;
  Bool int64 = 0;
  Bool int16 = 0;
  Bool unused1[13] = {};
};

struct Features11 : Header<Kind::vulkan11Features> {
  Bool storage16 = 0;
  Bool unused[11] = {};
};

struct Features12 : Header<Kind::vulkan12Features> {
  Bool unused0[2] = {};
  Bool storage8 = 0;
  Bool unused1[2] = {};
  Bool atomic64 = 0; ///< shaderBufferInt64Atomics
  Bool sharedAtomic64 = 0;
  Bool float16 = 0;
  Bool int8 = 0;
  Bool unused2[28] = {};
  Bool timelines = 0;
  Bool addresses = 0; ///< bufferDeviceAddress
  Bool unused3[2] = {};
  Bool memoryModel = 0;         ///< vulkanMemoryModel
  Bool memoryModelOfDevice = 0; ///< vulkanMemoryModelDeviceScope
  Bool unused4[4] = {};
};

struct Features13 : Header<Kind::vulkan13Features> {
  Bool unused0[7] = {};
  Bool subgroupSizes = 0;  ///< subgroupSizeControl
  Bool wholeSubgroups = 0; ///< computeFullSubgroups
  Bool synchronization = 0;
  Bool unused1[5] = {};
};

struct CooperativeMatrixFeatures : Header<Kind::cooperativeMatrixFeatures> {
  Bool matrices = 0; ///< cooperativeMatrix
  Bool robustAccess = 0;
};

struct Bfloat16Features : Header<Kind::bfloat16Features> {
  Bool types = 0; ///< shaderBFloat16Type
  Bool dotProducts = 0;
  Bool matrices = 0; ///< shaderBFloat16CooperativeMatrix
};

/// VkCooperativeMatrixPropertiesKHR.
struct CooperativeMatrixShape : Header<Kind::cooperativeMatrixProperties> {
  uint32_t rows = 0, columns = 0, depth = 0;
  uint32_t left = 0, right = 0, sum = 0, result = 0; ///< VkComponentTypeKHR
  Bool saturates = 0;
  uint32_t scope = 0; ///< VkScopeKHR
};
inline constexpr uint32_t componentFloat16 = 0, componentFloat32 = 1;
inline constexpr uint32_t componentBfloat16 = 1000141000;
inline constexpr uint32_t scopeSubgroup = 3;

struct QueueFamily {
  Flags flags = 0;
  uint32_t count = 0;
  uint32_t timestampBits = 0;
  uint32_t granularity[3] = {};
};
inline constexpr Flags graphicsQueue = 1, computeQueue = 2;

struct QueueCreateInfo : Header<Kind::deviceQueueCreateInfo> {
  Flags flags = 0;
  uint32_t family = 0;
  uint32_t count = 1;
  const float *priorities = nullptr;
};

struct DeviceCreateInfo : Header<Kind::deviceCreateInfo> {
  Flags flags = 0;
  uint32_t queueCount = 1;
  const QueueCreateInfo *queues = nullptr;
  uint32_t layerCount = 0;
  const char *const *layers = nullptr;
  uint32_t extensionCount = 0;
  const char *const *extensions = nullptr;
  const void *features = nullptr;
};

struct ExtensionProperties {
  char name[256] = "";
  uint32_t version = 0;
};

struct MemoryType {
  Flags flags;
  uint32_t heap;
};
inline constexpr Flags deviceLocal = 1, hostVisible = 2, hostCoherent = 4,
                       hostCached = 8;
struct MemoryHeap {
  uint64_t bytes;
  Flags flags;
};
inline constexpr uint32_t mostHeaps = 16;

struct MemoryProperties : Header<Kind::memoryProperties2> {
  uint32_t typeCount = 0;
  MemoryType types[32] = {};
  uint32_t heapCount = 0;
  MemoryHeap heaps[mostHeaps] = {};
};

struct MemoryBudget : Header<Kind::memoryBudget> {
  uint64_t budget[mostHeaps] = {}, usage[mostHeaps] = {};
};

struct AllocateFlags : Header<Kind::memoryAllocateFlagsInfo> {
  Flags flags = 2; ///< with a device address
  uint32_t deviceMask = 0;
};

struct AllocateInfo : Header<Kind::memoryAllocateInfo> {
  uint64_t bytes = 0;
  uint32_t type = 0;
};

struct BufferCreateInfo : Header<Kind::bufferCreateInfo> {
  Flags flags = 0;
  uint64_t bytes = 0;
  Flags usage = 0;
  uint32_t sharing = 0;
  uint32_t familyCount = 0;
  const uint32_t *families = nullptr;
};
/// VkBufferUsageFlagBits: transfers, storage, and an address.
inline constexpr Flags transferFrom = 1, transferTo = 2, storage = 0x20,
                       addressed = 0x20000;

struct MemoryRequirements {
  uint64_t bytes = 0, alignment = 0;
  uint32_t types = 0;
};

struct BufferAddressInfo : Header<Kind::bufferDeviceAddressInfo> {
  Buffer buffer = nullptr;
};

struct CommandPoolCreateInfo : Header<Kind::commandPoolCreateInfo> {
  Flags flags = 0;
  uint32_t family = 0;
};

struct CommandBufferAllocateInfo : Header<Kind::commandBufferAllocateInfo> {
  CommandPool pool = nullptr;
  uint32_t level = 0;
  uint32_t count = 1;
};

struct CommandBufferBeginInfo : Header<Kind::commandBufferBeginInfo> {
  Flags flags = 0;
  const void *inheritance = nullptr;
};
/// VkCommandBufferUsageFlagBits.
inline constexpr Flags submittedOnce = 1;

struct BufferCopy {
  uint64_t from = 0, to = 0, bytes = 0;
};

/// VkPipelineStageFlagBits2 and VkAccessFlagBits2.
inline constexpr Flags64 allCommands = 0x10000;
inline constexpr Flags64 kernels = 0x800, transfers = 0x1000;
inline constexpr Flags64 hostStage = 0x4000;
inline constexpr Flags64 memoryWrite = 0x10000;
inline constexpr Flags64 storageRead = 0x200000000, storageWrite = 0x400000000;
inline constexpr Flags64 transferRead = 0x800, transferWrite = 0x1000;
inline constexpr Flags64 hostRead = 0x2000, hostWrite = 0x4000;

struct MemoryBarrier : Header<Kind::memoryBarrier2> {
  Flags64 fromStage = 0, fromAccess = 0, toStage = 0, toAccess = 0;
};

struct DependencyInfo : Header<Kind::dependencyInfo> {
  Flags flags = 0;
  uint32_t memoryCount = 0;
  const MemoryBarrier *memory = nullptr;
  uint32_t bufferCount = 0;
  const void *buffers = nullptr;
  uint32_t imageCount = 0;
  const void *images = nullptr;
};

struct SemaphoreType : Header<Kind::semaphoreTypeCreateInfo> {
  uint32_t type = 1; ///< a timeline
  uint64_t value = 0;
};

struct SemaphoreCreateInfo : Header<Kind::semaphoreCreateInfo> {
  Flags flags = 0;
};

struct SemaphoreWaitInfo : Header<Kind::semaphoreWaitInfo> {
  Flags flags = 0;
  uint32_t count = 1;
  const Semaphore *semaphores = nullptr;
  const uint64_t *values = nullptr;
};

struct SemaphoreSubmitInfo : Header<Kind::semaphoreSubmitInfo> {
  Semaphore semaphore = nullptr;
  uint64_t value = 0;
  Flags64 stage = allCommands;
  uint32_t device = 0;
};

struct CommandBufferSubmitInfo : Header<Kind::commandBufferSubmitInfo> {
  CommandBuffer commands = nullptr;
  uint32_t deviceMask = 0;
};

struct SubmitInfo : Header<Kind::submitInfo2> {
  Flags flags = 0;
  uint32_t waitCount = 0;
  const SemaphoreSubmitInfo *waits = nullptr;
  uint32_t commandCount = 0;
  const CommandBufferSubmitInfo *commands = nullptr;
  uint32_t signalCount = 0;
  const SemaphoreSubmitInfo *signals = nullptr;
};

struct QueryPoolCreateInfo : Header<Kind::queryPoolCreateInfo> {
  Flags flags = 0;
  uint32_t type = 2; ///< timestamps
  uint32_t count = 0;
  Flags statistics = 0;
};
/// VkQueryResultFlagBits.
inline constexpr Flags results64 = 1, waitsForResults = 2;

struct ShaderModuleCreateInfo : Header<Kind::shaderModuleCreateInfo> {
  Flags flags = 0;
  size_t bytes = 0;
  const uint32_t *code = nullptr;
};

struct PushConstantRange {
  Flags stages = 0;
  uint32_t offset = 0, bytes = 0;
};
inline constexpr Flags computeStage = 0x20;

struct PipelineLayoutCreateInfo : Header<Kind::pipelineLayoutCreateInfo> {
  Flags flags = 0;
  uint32_t setCount = 0;
  const void *sets = nullptr;
  uint32_t rangeCount = 0;
  const PushConstantRange *ranges = nullptr;
};

struct PipelineCacheCreateInfo : Header<Kind::pipelineCacheCreateInfo> {
  Flags flags = 0;
  size_t bytes = 0;
  const void *data = nullptr;
};

struct RequiredSubgroupSize : Header<Kind::requiredSubgroupSize> {
  uint32_t threads = 0;
};

struct ShaderStage : Header<Kind::pipelineShaderStageCreateInfo> {
  Flags flags = 0;
  uint32_t stage = computeStage;
  ShaderModule module = nullptr;
  const char *name = nullptr;
  const void *specialization = nullptr;
};
/// VkPipelineShaderStageCreateFlagBits: no subgroup lacks threads.
inline constexpr Flags wholeSubgroups = 2;

struct ComputePipelineCreateInfo : Header<Kind::computePipelineCreateInfo> {
  Flags flags = 0;
  ShaderStage stage;
  PipelineLayout layout = nullptr;
  Pipeline base = nullptr;
  int32_t baseIndex = -1;
};

} // namespace sinter::runtime::vulkan
