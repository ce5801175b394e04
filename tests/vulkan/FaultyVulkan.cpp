/// Functions between the runtime and Vulkan's loader.
#include "tests/vulkan/FaultyVulkan.h"

#include "runtime/device/vulkan/Loader.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <tuple>
#include <type_traits>

using namespace sinter::runtime::vulkan;

namespace {

enum Number : unsigned {
#define SINTER_VULKAN(field, name, result, arguments) number_##field,
  SINTER_VULKAN_FUNCTIONS
#undef SINTER_VULKAN
      count
};

constexpr const char *names[] = {
#define SINTER_VULKAN(field, name, result, arguments) name,
    SINTER_VULKAN_FUNCTIONS
#undef SINTER_VULKAN
};

struct State {
  std::atomic<uint64_t> calls = 0;
  std::atomic<Code> fault = success;
  std::atomic<uint64_t> first = 0, failing = 0; ///< by the number of the call
  void *real = nullptr;

  Code next() {
    uint64_t number = calls++;
    return number >= first && number - first < failing ? fault.load() : success;
  }
};
State states[count];
std::atomic<unsigned> losesBehind = count;
std::atomic<Device> opened = nullptr;
Code (*waitIdle)(Device) = nullptr;

//===- Devices that have little -------------------------------------------===//

std::atomic<bool> isLeast = false;

/// The structure of type T in a chain of any.
template <typename T> T *findIn(const void *chain) {
  using Any = Header<Kind::features2>; // all begin alike
  while (chain && static_cast<const Any *>(chain)->kind != T().kind)
    chain = static_cast<const Any *>(chain)->next;
  return static_cast<T *>(const_cast<void *>(chain));
}

void shrink(Features &features) {
  features.float64 = features.int64 = features.int16 = 0;
  if (auto *more = findIn<Features11>(&features))
    more->storage16 = 0;
  if (auto *more = findIn<Features12>(&features))
    more->storage8 = more->int8 = more->float16 = more->atomic64 = 0;
}

void shrink(Properties &properties) {
  constexpr uint32_t sharedBytes = 16384, threads = 128;
  constexpr Flags basicOperations = 1;
  properties.limits.sharedBytes = sharedBytes;
  properties.limits.mostThreads = properties.limits.mostThreadsAlong[0] =
      threads;
  if (auto *more = findIn<Properties11>(&properties))
    more->subgroupOperations = basicOperations;
  if (auto *more = findIn<Properties12>(&properties))
    more->keepsNan32 = more->keepsDenormals32 = 0;
}

template <unsigned N, typename Signature> struct Passed;
template <unsigned N, typename R, typename... A> struct Passed<N, R(A...)> {
  static R call(A... arguments) {
    Code fault = states[N].next();
    if constexpr (std::is_same_v<R, Code>)
      if (fault != success)
        return fault;
    auto *real = reinterpret_cast<R (*)(A...)>(states[N].real);
    if constexpr (N == number_getQueue)
      opened = std::get<0>(std::tie(arguments...));
    if constexpr (N == number_features || N == number_properties) {
      real(arguments...);
      if (isLeast)
        shrink(*std::get<1>(std::tie(arguments...)));
      return;
    }
    if (losesBehind != N)
      return real(arguments...);
    losesBehind = count;
    if constexpr (std::is_void_v<R>) {
      real(arguments...);
      loseVulkanDevice();
    } else {
      R result = real(arguments...);
      loseVulkanDevice();
      return result;
    }
  }
};

void *const passed[] = {
#define SINTER_VULKAN(field, name, result, arguments)                          \
  reinterpret_cast<void *>(Passed<number_##field, result arguments>::call),
    SINTER_VULKAN_FUNCTIONS
#undef SINTER_VULKAN
};

unsigned numberOf(const char *name) {
  for (unsigned number = 0; number < count; ++number)
    if (std::strcmp(names[number], name) == 0)
      return number;
  return count;
}

State &stateOf(const char *name) {
  unsigned number = numberOf(name);
  if (number == count)
    std::abort();
  return states[number];
}

using GetFunction = void *(*)(Instance, const char *);

GetFunction realLoader() {
  // By its path: by its name it is this library.
  void *library = dlopen(SINTER_VULKAN_LOADER, RTLD_NOW | RTLD_LOCAL);
  return library ? reinterpret_cast<GetFunction>(
                       dlsym(library, "vkGetInstanceProcAddr"))
                 : nullptr;
}

} // namespace

extern "C" {

uint64_t vulkanCalls(const char *name) { return stateOf(name).calls; }

void failVulkanCall(const char *name, int code, uint64_t working,
                    uint64_t failing) {
  State &state = stateOf(name);
  state.first = state.calls + working;
  state.failing = failing;
  state.fault = code;
}

void loseVulkanDevice(const char *name) {
  if (name) {
    losesBehind = numberOf(name);
    return;
  }
  if (opened)
    (void)waitIdle(opened);
  for (const char *name :
       {"vkQueueSubmit2", "vkWaitSemaphores", "vkGetSemaphoreCounterValue"})
    failVulkanCall(name, deviceLost);
}

void shrinkVulkanDevices() { isLeast = true; }

void healVulkan() {
  for (State &state : states)
    state.fault = success;
}

/// What the runtime looks up.
void *vkGetInstanceProcAddr(Instance instance, const char *name) {
  static const GetFunction get = realLoader();
  if (!get)
    return nullptr;
  void *real = get(instance, name);
  unsigned number = numberOf(name);
  if (!real || number == count)
    return real;
  if (!waitIdle)
    waitIdle =
        reinterpret_cast<Code (*)(Device)>(get(instance, "vkDeviceWaitIdle"));
  states[number].real = real;
  return passed[number];
}
}
