/// Loader: Vulkan's loader, opened at run time, and an instance of it.
#pragma once

#include "runtime/device/vulkan/Api.h"
#include "sinter/runtime/Result.h"

#include <string_view>

namespace sinter::runtime::vulkan {

/// Every entry point that is used: SINTER_VULKAN(field, exported name, result,
/// arguments). The driver's host allocator is left out everywhere.
#define SINTER_VULKAN_FUNCTIONS                                                \
  SINTER_VULKAN(listDevices, "vkEnumeratePhysicalDevices", Code,               \
                (Instance, uint32_t *, PhysicalDevice *))                      \
  SINTER_VULKAN(properties, "vkGetPhysicalDeviceProperties2", void,            \
                (PhysicalDevice, Properties *))                                \
  SINTER_VULKAN(features, "vkGetPhysicalDeviceFeatures2", void,                \
                (PhysicalDevice, Features *))                                  \
  SINTER_VULKAN(memoryProperties, "vkGetPhysicalDeviceMemoryProperties2",      \
                void, (PhysicalDevice, MemoryProperties *))                    \
  SINTER_VULKAN(queueFamilies, "vkGetPhysicalDeviceQueueFamilyProperties",     \
                void, (PhysicalDevice, uint32_t *, QueueFamily *))             \
  SINTER_VULKAN(                                                               \
      listExtensions, "vkEnumerateDeviceExtensionProperties", Code,            \
      (PhysicalDevice, const char *, uint32_t *, ExtensionProperties *))       \
  SINTER_VULKAN(                                                               \
      createDevice, "vkCreateDevice", Code,                                    \
      (PhysicalDevice, const DeviceCreateInfo *, const void *, Device *))      \
  SINTER_VULKAN(destroyDevice, "vkDestroyDevice", void,                        \
                (Device, const void *))                                        \
  SINTER_VULKAN(getQueue, "vkGetDeviceQueue", void,                            \
                (Device, uint32_t, uint32_t, Queue *))                         \
  SINTER_VULKAN(allocate, "vkAllocateMemory", Code,                            \
                (Device, const AllocateInfo *, const void *, Memory *))        \
  SINTER_VULKAN(free, "vkFreeMemory", void, (Device, Memory, const void *))    \
  SINTER_VULKAN(map, "vkMapMemory", Code,                                      \
                (Device, Memory, uint64_t, uint64_t, Flags, void **))          \
  SINTER_VULKAN(createBuffer, "vkCreateBuffer", Code,                          \
                (Device, const BufferCreateInfo *, const void *, Buffer *))    \
  SINTER_VULKAN(destroyBuffer, "vkDestroyBuffer", void,                        \
                (Device, Buffer, const void *))                                \
  SINTER_VULKAN(requirements, "vkGetBufferMemoryRequirements", void,           \
                (Device, Buffer, MemoryRequirements *))                        \
  SINTER_VULKAN(bind, "vkBindBufferMemory", Code,                              \
                (Device, Buffer, Memory, uint64_t))                            \
  SINTER_VULKAN(address, "vkGetBufferDeviceAddress", uint64_t,                 \
                (Device, const BufferAddressInfo *))                           \
  SINTER_VULKAN(                                                               \
      createPool, "vkCreateCommandPool", Code,                                 \
      (Device, const CommandPoolCreateInfo *, const void *, CommandPool *))    \
  SINTER_VULKAN(destroyPool, "vkDestroyCommandPool", void,                     \
                (Device, CommandPool, const void *))                           \
  SINTER_VULKAN(resetPool, "vkResetCommandPool", Code,                         \
                (Device, CommandPool, Flags))                                  \
  SINTER_VULKAN(allocateCommands, "vkAllocateCommandBuffers", Code,            \
                (Device, const CommandBufferAllocateInfo *, CommandBuffer *))  \
  SINTER_VULKAN(begin, "vkBeginCommandBuffer", Code,                           \
                (CommandBuffer, const CommandBufferBeginInfo *))               \
  SINTER_VULKAN(end, "vkEndCommandBuffer", Code, (CommandBuffer))              \
  SINTER_VULKAN(bindPipeline, "vkCmdBindPipeline", void,                       \
                (CommandBuffer, uint32_t, Pipeline))                           \
  SINTER_VULKAN(push, "vkCmdPushConstants", void,                              \
                (CommandBuffer, PipelineLayout, Flags, uint32_t, uint32_t,     \
                 const void *))                                                \
  SINTER_VULKAN(dispatch, "vkCmdDispatch", void,                               \
                (CommandBuffer, uint32_t, uint32_t, uint32_t))                 \
  SINTER_VULKAN(copyBuffer, "vkCmdCopyBuffer", void,                           \
                (CommandBuffer, Buffer, Buffer, uint32_t, const BufferCopy *)) \
  SINTER_VULKAN(barrier, "vkCmdPipelineBarrier2", void,                        \
                (CommandBuffer, const DependencyInfo *))                       \
  SINTER_VULKAN(resetQueries, "vkCmdResetQueryPool", void,                     \
                (CommandBuffer, QueryPool, uint32_t, uint32_t))                \
  SINTER_VULKAN(writeTime, "vkCmdWriteTimestamp2", void,                       \
                (CommandBuffer, Flags64, QueryPool, uint32_t))                 \
  SINTER_VULKAN(                                                               \
      createQueries, "vkCreateQueryPool", Code,                                \
      (Device, const QueryPoolCreateInfo *, const void *, QueryPool *))        \
  SINTER_VULKAN(destroyQueries, "vkDestroyQueryPool", void,                    \
                (Device, QueryPool, const void *))                             \
  SINTER_VULKAN(queryResults, "vkGetQueryPoolResults", Code,                   \
                (Device, QueryPool, uint32_t, uint32_t, size_t, void *,        \
                 uint64_t, Flags))                                             \
  SINTER_VULKAN(submit, "vkQueueSubmit2", Code,                                \
                (Queue, uint32_t, const SubmitInfo *, void *))                 \
  SINTER_VULKAN(                                                               \
      createSemaphore, "vkCreateSemaphore", Code,                              \
      (Device, const SemaphoreCreateInfo *, const void *, Semaphore *))        \
  SINTER_VULKAN(destroySemaphore, "vkDestroySemaphore", void,                  \
                (Device, Semaphore, const void *))                             \
  SINTER_VULKAN(counter, "vkGetSemaphoreCounterValue", Code,                   \
                (Device, Semaphore, uint64_t *))                               \
  SINTER_VULKAN(wait, "vkWaitSemaphores", Code,                                \
                (Device, const SemaphoreWaitInfo *, uint64_t))                 \
  SINTER_VULKAN(                                                               \
      createModule, "vkCreateShaderModule", Code,                              \
      (Device, const ShaderModuleCreateInfo *, const void *, ShaderModule *))  \
  SINTER_VULKAN(destroyModule, "vkDestroyShaderModule", void,                  \
                (Device, ShaderModule, const void *))                          \
  SINTER_VULKAN(createLayout, "vkCreatePipelineLayout", Code,                  \
                (Device, const PipelineLayoutCreateInfo *, const void *,       \
                 PipelineLayout *))                                            \
  SINTER_VULKAN(destroyLayout, "vkDestroyPipelineLayout", void,                \
                (Device, PipelineLayout, const void *))                        \
  SINTER_VULKAN(createCache, "vkCreatePipelineCache", Code,                    \
                (Device, const PipelineCacheCreateInfo *, const void *,        \
                 PipelineCache *))                                             \
  SINTER_VULKAN(destroyCache, "vkDestroyPipelineCache", void,                  \
                (Device, PipelineCache, const void *))                         \
  SINTER_VULKAN(cacheData, "vkGetPipelineCacheData", Code,                     \
                (Device, PipelineCache, size_t *, void *))                     \
  SINTER_VULKAN(createPipelines, "vkCreateComputePipelines", Code,             \
                (Device, PipelineCache, uint32_t,                              \
                 const ComputePipelineCreateInfo *, const void *, Pipeline *)) \
  SINTER_VULKAN(destroyPipeline, "vkDestroyPipeline", void,                    \
                (Device, Pipeline, const void *))

/// The loader's functions, and the instance they work on.
struct Loader {
#define SINTER_VULKAN(field, name, result, arguments)                          \
  result(*field) arguments = nullptr;
  SINTER_VULKAN_FUNCTIONS
#undef SINTER_VULKAN
  Instance instance = nullptr;
  /// A function of an extension, or null (vkGetInstanceProcAddr).
  void *(*extension)(Instance, const char *name) = nullptr;

  /// The loader of this machine, opened once. An error of kind `device` says
  /// what is missing; it stays.
  static Result<const Loader *> open();
};

/// `what: NAME`, of kind `out_of_memory` where that is it.
ErrorInfo errorOf(std::string_view what, Code code);
inline Status check(std::string_view what, Code code) {
  if (code >= success)
    return {};
  return errorOf(what, code);
}

} // namespace sinter::runtime::vulkan
