/// Reads and writes a driver's pipeline cache.
#include "runtime/device/vulkan/PipelineFile.h"

#include "sinter/runtime/Log.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

/// VkPipelineCacheHeaderVersionOne.
struct DataHeader {
  uint32_t bytes = 0;
  uint32_t version = 0;
  uint32_t vendor = 0;
  uint32_t device = 0;
  uint8_t cacheId[16] = {};
};
static_assert(sizeof(DataHeader) == 32);

Key keyOf(const VulkanAbout &about) {
  std::string text =
      fmt::format("vulkan pipelines\n{}\n{}\n{} {}\n", about.name, about.driver,
                  about.vendor, about.deviceId);
  text.append(reinterpret_cast<const char *>(about.cacheId),
              sizeof(about.cacheId));
  return keyOfText(text);
}

} // namespace

bool sinter::runtime::isPipelineData(std::span<const std::byte> data,
                                     const VulkanAbout &about) {
  DataHeader header;
  if (data.size() < sizeof(header))
    return false;
  std::memcpy(&header, data.data(), sizeof(header));
  return header.bytes >= sizeof(header) && header.bytes <= data.size() &&
         header.version == 1 && header.vendor == about.vendor &&
         header.device == about.deviceId &&
         std::ranges::equal(header.cacheId, about.cacheId);
}

PipelineFile::PipelineFile(const VulkanGpu &gpu)
    : gpu(gpu), name(keyOf(gpu.about)) {}

std::vector<std::byte> PipelineFile::load() const {
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepareOrWarn())
    return {};
  auto bytes = disk.findBytes(CacheKind::pipelines, name);
  if (!bytes) {
    logWarning(bytes.error().message + "; making the pipelines again");
    return {};
  }
  if (!*bytes || isPipelineData(**bytes, gpu.about))
    return std::move(*bytes).value_or(std::vector<std::byte>());
  drop(disk, "it is another driver's");
  return {};
}

void PipelineFile::drop(const DiskCache &disk, const std::string &why) const {
  logWarning(disk.bytesPath(CacheKind::pipelines, name) + ": " + why +
             "; making the pipelines again");
  disk.removeBytes(CacheKind::pipelines, name);
}

Code PipelineFile::make(std::span<const std::byte> data) {
  PipelineCacheCreateInfo info;
  info.bytes = data.size();
  info.data = data.data();
  return gpu.loader.createCache(gpu.device, &info, nullptr, &handle);
}

PipelineFile::~PipelineFile() {
  if (handle)
    gpu.loader.destroyCache(gpu.device, handle, nullptr);
}

Status PipelineFile::open() {
  const char *what = "vkCreatePipelineCache";
  std::vector<std::byte> data = load();
  Code code = make(data);
  ErrorInfo error = errorOf(what, code);
  if (code < success && !data.empty() &&
      error.kind != ErrorKind::out_of_memory) {
    drop(DiskCache::fromEnvironment(), error.message);
    data.clear();
    code = make(data);
  }
  savedBytes = data.size();
  return check(what, code);
}

void PipelineFile::save() {
  LogHold hold;
  std::lock_guard lock(mutex);
  size_t bytes = 0;
  if (gpu.loader.cacheData(gpu.device, handle, &bytes, nullptr) != success ||
      bytes <= savedBytes)
    return;
  std::vector<std::byte> data(bytes);
  if (gpu.loader.cacheData(gpu.device, handle, &bytes, data.data()) != success)
    return;
  data.resize(bytes);
  savedBytes = bytes;
  DiskCache disk = DiskCache::fromEnvironment();
  if (!disk.prepareOrWarn() || !isPipelineData(data, gpu.about))
    return;
  if (Status stored = disk.storeBytes(CacheKind::pipelines, name, data);
      !stored)
    logWarning(stored.error().message + "; pipelines are not kept");
}
