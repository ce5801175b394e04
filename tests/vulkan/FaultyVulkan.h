/// FaultyVulkan: a libvulkan.so.1 before the machine's own.
///
/// It passes every call of the runtime on, counts it, and lets those fail that
/// a test wants to fail. What fails is not passed on.
#pragma once

#include <cstdint>

extern "C" {

/// Calls of a function since the process began; aborts where the runtime uses
/// none of that name.
uint64_t vulkanCalls(const char *name);
/// The function gives `code`, a VkResult, after `working` more calls that work,
/// `failing` times.
void failVulkanCall(const char *name, int code, uint64_t working = 0,
                    uint64_t failing = UINT64_MAX);
/// The device ends its work and is lost: what says so from now on does. With a
/// name, that happens behind the next call of that function.
void loseVulkanDevice(const char *name = nullptr);
/// From now on devices say that they have no more than Vulkan 1.3 promises.
void shrinkVulkanDevices();
/// Nothing fails any longer.
void healVulkan();
}
