/// Opens the loader's library and makes an instance.
#include "runtime/device/vulkan/Loader.h"

#include <dlfcn.h>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

constexpr const char *libraryName = "libvulkan.so.1";

using GetFunction = void *(*)(Instance, const char *);

ErrorInfo missing(const std::string &what) {
  return makeError(ErrorKind::device, what);
}

Result<Instance> makeInstance(GetFunction get) {
  auto create =
      reinterpret_cast<Code (*)(const InstanceCreateInfo *, const void *,
                                Instance *)>(get(nullptr, "vkCreateInstance"));
  auto version = reinterpret_cast<Code (*)(uint32_t *)>(
      get(nullptr, "vkEnumerateInstanceVersion"));
  uint32_t known = 0;
  if (!create || !version || version(&known) != success || known < version13)
    return missing(fmt::format("{} is older than Vulkan 1.3", libraryName));
  ApplicationInfo application;
  application.name = application.engine = "sinter";
  InstanceCreateInfo info;
  info.application = &application;
  Instance instance = nullptr;
  Code code = create(&info, nullptr, &instance);
  if (code == noDriver)
    return missing(fmt::format("{} knows no driver", libraryName));
  SINTER_TRY(check("vkCreateInstance", code));
  return instance;
}

Result<Loader> openLibrary() {
  void *library = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return missing(fmt::format("{} not found", libraryName));
  auto get =
      reinterpret_cast<GetFunction>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!get)
    return missing(fmt::format("{} is no Vulkan loader", libraryName));
  Loader loader;
  loader.extension = get;
  SINTER_TRY_ASSIGN(loader.instance, makeInstance(get));
#define SINTER_VULKAN(field, name, result, arguments)                          \
  loader.field =                                                               \
      reinterpret_cast<decltype(loader.field)>(get(loader.instance, name));    \
  if (!loader.field)                                                           \
    return missing(fmt::format("{} lacks {}", libraryName, name));
  SINTER_VULKAN_FUNCTIONS
#undef SINTER_VULKAN
  return loader;
}

const char *nameOf(Code code) {
  switch (code) {
  case timedOut:
    return "VK_TIMEOUT";
  case outOfHostMemory:
    return "VK_ERROR_OUT_OF_HOST_MEMORY";
  case outOfDeviceMemory:
    return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
  case -3:
    return "VK_ERROR_INITIALIZATION_FAILED";
  case deviceLost:
    return "VK_ERROR_DEVICE_LOST";
  case -5:
    return "VK_ERROR_MEMORY_MAP_FAILED";
  case -7:
    return "VK_ERROR_EXTENSION_NOT_PRESENT";
  case -8:
    return "VK_ERROR_FEATURE_NOT_PRESENT";
  case -10:
    return "VK_ERROR_TOO_MANY_OBJECTS";
  case -13:
    return "VK_ERROR_UNKNOWN";
  case -1000012000:
    return "VK_ERROR_INVALID_SHADER_NV";
  default:
    return nullptr;
  }
}

} // namespace

Result<const Loader *> Loader::open() {
  static const auto &opened = *new Result<Loader>(openLibrary());
  if (!opened)
    return ErrorInfo(opened.error());
  return &*opened;
}

ErrorInfo sinter::runtime::vulkan::errorOf(std::string_view what, Code code) {
  bool isMemory = code == outOfHostMemory || code == outOfDeviceMemory;
  const char *name = nameOf(code);
  return makeError(isMemory ? ErrorKind::out_of_memory : ErrorKind::device,
                   fmt::format("{}: {}", what,
                               name ? name : fmt::format("VkResult {}", code)));
}
