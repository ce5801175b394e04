/// A device: memory, copies, launches and events.
#include "runtime/device/vulkan/VulkanDevice.h"

#include "runtime/device/vulkan/VulkanGraph.h"
#include "runtime/device/vulkan/VulkanLaunch.h"
#include "runtime/support/Flags.h"
#include "runtime/support/ThreadOwner.h"
#include "runtime/support/WorkTimes.h"
#include "sinter/runtime/Log.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mutex>
#include <unistd.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::vulkan;

namespace {

/// What buffers may take together. The driver keeps what it needs for itself.
size_t memoryLimit(size_t bytes) {
  return flags().memoryLimit > 0 ? size_t(flags().memoryLimit) : bytes;
}

class VulkanEvent final : public Event {
public:
  VulkanEvent(const VulkanQueue &queue, uint64_t value)
      : queue(queue), value(value) {}
  bool done() const override { return queue.reached(value); }
  Status wait() override { return queue.wait(value); }

private:
  const VulkanQueue &queue;
  const uint64_t value;
};

} // namespace

uint8_t VulkanDevice::count() {
  Result<const Loader *> loader = Loader::open();
  if (!loader)
    return 0;
  auto isUsable = [](const VulkanAbout &about) { return about.reason.empty(); };
  const Result<std::vector<VulkanAbout>> &all = vulkanDevices(**loader);
  return all ? uint8_t(
                   std::min<size_t>(std::ranges::count_if(*all, isUsable), 255))
             : 0;
}

namespace {

/// Devices that were opened, by number.
struct Opened {
  std::mutex mutex;
  std::array<VulkanDevice *, 256> devices{};
};

Opened &opened() {
  static auto *all = new Opened; // never destroyed
  return *all;
}

// Drivers are unloaded when the process ends, and may not be while they work:
// what nobody has waited for is waited for then.
void finishOpened() {
  for (VulkanDevice *device : opened().devices)
    if (device && device->checkProcess())
      (void)device->synchronize();
}

// Drivers register what is done at the end of the process when they first make
// code of kernels, on threads of theirs, so what is registered here may come
// after that. The objects of the thread that ends the process go before all.
void finishWithMainThread() {
  struct Finisher {
    ~Finisher() {
      if (gettid() == getpid())
        finishOpened();
    }
  };
  static thread_local Finisher finisher;
  (void)finisher;
}

/// What a thread reuses for each launch and each copy.
VulkanLaunch &threadLaunch() {
  static SINTER_THREAD_LOCAL auto launch = std::make_unique<VulkanLaunch>();
  return *launch;
}

} // namespace

Result<VulkanDevice *> VulkanDevice::open(uint8_t index) {
  Opened &all = opened();
  LogHold hold;
  std::lock_guard lock(all.mutex);
  if (all.devices[index])
    return all.devices[index];
  SlowNotice notice;
  WorkTimer timer(Work::opening);
  auto made = make(index);
  notice.done([&] { return fmt::format("opening vulkan:{}", index); });
  if (!made)
    return makeError(ErrorKind::device,
                     fmt::format("device vulkan:{} is not available: {}", index,
                                 made.error().message));
  std::atexit(finishOpened);
  return all.devices[index] = *made;
}

Result<VulkanDevice *> VulkanDevice::make(uint8_t index) {
  SINTER_TRY_ASSIGN(const Loader *loader, Loader::open());
  const Result<std::vector<VulkanAbout>> &all = vulkanDevices(*loader);
  if (!all)
    return ErrorInfo(all.error());
  if (all->empty())
    return makeError(ErrorKind::device, "the loader knows no device");
  if (index >= all->size())
    return makeError(ErrorKind::device,
                     fmt::format("the loader has {} devices", all->size()));
  const VulkanAbout &about = (*all)[index];
  if (!about.reason.empty())
    return makeError(ErrorKind::device,
                     fmt::format("{}: {}", about.name, about.reason));
  SINTER_TRY_ASSIGN(VulkanGpu gpu, VulkanGpu::open(*loader, about));
  std::unique_ptr<VulkanDevice> device(new VulkanDevice(gpu, index));
  SINTER_TRY(device->queue.start());
  SINTER_TRY(device->pipelines.open());
  return device.release();
}

VulkanDevice::VulkanDevice(VulkanGpu opened, uint8_t index)
    : gpu(opened), deviceId{DeviceKind::vulkan, index}, heap(deviceHeap(gpu)),
      queue(gpu, toString(deviceId)),
      memory(gpu, [this] { (void)queue.finish(); }),
      allocator(memory, toString(deviceId), memoryLimit(heap.total)),
      pipelines(gpu), copies(gpu, *this) {}

std::string VulkanDevice::description() const {
  std::string subgroups =
      gpu.about.subgroup ? fmt::format("of {}", gpu.about.subgroup) : "unknown";
  return fmt::format(
      "{}, {}, Vulkan {}.{}, subgroups {}, workgroups of {} "
      "with {} KiB shared, grids of {}",
      gpu.about.name, gpu.about.driver, gpu.about.version >> 22 & 0x7f,
      gpu.about.version >> 12 & 0x3ff, subgroups, gpu.about.mostThreads,
      gpu.about.sharedBytes / 1024, gpu.about.mostGroups);
}

std::vector<std::string> VulkanDevice::features(bool allSizes) const {
  const VulkanAbout &about = gpu.about;
  std::vector<std::string> list;
  if (about.subgroup)
    list.push_back(fmt::format("subgroup{}", about.subgroup));
  std::pair<bool, const char *> flags[] = {{about.int64, "i64"},
                                           {about.int8, "i8"},
                                           {about.int16, "i16"},
                                           {about.float64, "f64"},
                                           {about.atomic64, "atomic64"},
                                           {about.keepsNan, "nan32"},
                                           {about.keepsDenormals, "denormal32"},
                                           {about.isNvidia, "fma32"},
                                           {about.isNvidia, "max32"},
                                           {about.isNvidia, "power32"},
                                           {about.matrices, "coopmat16"}};
  for (auto [has, name] : flags)
    if (has)
      list.push_back(name);
  constexpr uint32_t step = 16;
  uint32_t most = about.sharedBytes / 1024 / step * step;
  for (uint32_t size = allSizes ? step : most; size <= most; size += step)
    list.push_back(fmt::format("shared{}", size));
  // Each has 128.
  uint32_t threads = std::bit_floor(about.mostThreads);
  for (uint32_t size = allSizes ? 256 : threads; size >= 256 && size <= threads;
       size *= 2)
    list.push_back(fmt::format("threads{}", size));
  std::ranges::sort(list);
  return list;
}

std::string VulkanDevice::profile() const {
  return fmt::format("{}", fmt::join(features(/*allSizes=*/true), ","));
}

std::string VulkanDevice::target() const {
  return fmt::format("vulkan:{}", fmt::join(features(/*allSizes=*/false), "+"));
}

MemoryInfo VulkanDevice::memoryInfo() const {
  CachingAllocator::Usage usage = allocator.usage();
  VulkanHeap now = deviceHeap(gpu);
  MemoryInfo info;
  info.total = std::min<size_t>(usage.limit, now.total);
  info.inUse = usage.inUse;
  info.reserved = usage.inUse + usage.cached;
  info.peak = usage.peak;
  info.available = usage.limit - usage.inUse;
  if (now.available)
    info.available =
        std::min<size_t>(info.available, *now.available + usage.cached);
  return info;
}

Result<BufferRef> VulkanDevice::allocate(size_t bytes) {
  SINTER_TRY(checkProcess());
  SINTER_TRY(queue.state());
  return allocator.allocate(*this, bytes);
}

void VulkanDevice::free(Buffer *buffer) { allocator.free(buffer); }

Status VulkanDevice::copyIn(Buffer &to, size_t offset,
                            std::span<const std::byte> from) {
  SINTER_TRY(checkCopy("copy in", *this, to, offset, from.size()));
  to.bumpVersion();
  if (from.empty())
    return {};
  VulkanMemory::Place place = memory.placeOf(to.data());
  return queue.upload({place.buffer, place.offset + offset}, from);
}

Status VulkanDevice::copyOut(std::span<std::byte> to, const Buffer &from,
                             size_t offset) {
  SINTER_TRY(checkCopy("copy out", *this, from, offset, to.size()));
  if (to.empty())
    return {};
  VulkanMemory::Place place = memory.placeOf(from.data());
  return queue.download(to, {place.buffer, place.offset + offset});
}

Status VulkanDevice::copy(Buffer &to, const Buffer &from, size_t bytes) {
  SINTER_TRY(checkCopy("copy", *this, to, 0, bytes));
  SINTER_TRY(checkCopy("copy", *this, from, 0, bytes));
  to.bumpVersion();
  return move(to.data(), from.data(), bytes);
}

Status VulkanDevice::move(void *to, const void *from, size_t bytes) {
  if (bytes == 0 || to == from)
    return {};
  VulkanLaunch &launch = threadLaunch();
  SINTER_TRY(copies.pack({to, from, bytes}, launch));
  if (launch.pipeline)
    return queue.launch(launch.dispatch());
  VulkanMemory::Place target = memory.placeOf(to),
                      source = memory.placeOf(from);
  if (!target.buffer || !source.buffer)
    return makeError(
        ErrorKind::internal,
        fmt::format("{}: a copy of memory that is not the device's",
                    toString(deviceId)));
  return queue.copy(target, source, bytes);
}

Result<std::unique_ptr<Image>>
VulkanDevice::loadImage(std::span<const std::byte> bytes) {
  SINTER_TRY(queue.state());
  SINTER_TRY_ASSIGN(auto image, loadVulkanImage(gpu, toString(deviceId), queue,
                                                pipelines.cache(), bytes));
  pipelines.save();
  finishWithMainThread();
  return image;
}

Status VulkanDevice::launch(const LaunchArgs &args) {
  VulkanLaunch &launch = threadLaunch();
  SINTER_TRY(packLaunch(gpu, toString(deviceId), args, launch));
  if (launch.columns == 0)
    return {};
  finishWithMainThread();
  return queue.launch(launch.dispatch());
}

Result<std::unique_ptr<WorkGraph>>
VulkanDevice::makeGraph(std::span<const GraphNode> nodes,
                        const WatchedWord &word) {
  SINTER_TRY(queue.state());
  finishWithMainThread();
  return makeVulkanGraph(gpu, toString(deviceId), queue, memory, copies, nodes,
                         word);
}

Result<std::unique_ptr<Event>> VulkanDevice::record() {
  SINTER_TRY_ASSIGN(uint64_t value, queue.submit());
  return std::unique_ptr<Event>(std::make_unique<VulkanEvent>(queue, value));
}

Result<std::optional<uint64_t>> VulkanDevice::stopTimer(uint64_t timer) {
  return queue.stopTimer(timer);
}

Status VulkanDevice::synchronize() { return queue.finish(); }
