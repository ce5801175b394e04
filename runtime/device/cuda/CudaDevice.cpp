/// A GPU: memory, copies, launches and events.
#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/Architectures.h"
#include "runtime/device/cuda/CudaGraph.h"
#include "runtime/support/Flags.h"
#include "runtime/support/ThreadOwner.h"
#include "runtime/support/WorkTimes.h"
#include "sinter/runtime/Log.h"

#include <array>
#include <fmt/format.h>
#include <mutex>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

namespace {

Address addressOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// What buffers may take together. The driver keeps what it needs for itself.
size_t memoryLimit(size_t bytes) {
  return flags().memoryLimit > 0 ? size_t(flags().memoryLimit) : bytes;
}

class CudaEvent final : public Event {
public:
  CudaEvent(const Driver &driver, DriverEvent event)
      : driver(driver), event(event) {}
  ~CudaEvent() override { driver.destroyEvent(event); }
  bool done() const override { return driver.queryEvent(event) != notReady; }
  Status wait() override {
    return driver.check("cuEventSynchronize", driver.waitEvent(event));
  }
  /// What is queued there from here on comes after the event.
  Code holdUp(Stream stream) const {
    return driver.waitInStream(stream, event, 0);
  }

private:
  const Driver &driver;
  const DriverEvent event;
};

} // namespace

void *CudaMemory::acquire(size_t bytes) {
  Address address = 0;
  driver.setContext(context);
  if (driver.allocate(&address, bytes) != success)
    return nullptr;
  return reinterpret_cast<void *>(address);
}

void CudaMemory::release(void *block) {
  driver.setContext(context);
  driver.free(addressOf(block));
}

uint8_t CudaDevice::count() {
  Result<const Driver *> driver = Driver::open();
  int count = 0;
  if (!driver || (*driver)->deviceCount(&count) != success)
    return 0;
  return uint8_t(std::min(count, 255));
}

Result<CudaDevice *> CudaDevice::open(uint8_t index) {
  static std::mutex mutex;
  static std::array<CudaDevice *, 256> opened{};
  LogHold hold;
  std::lock_guard lock(mutex);
  if (!opened[index]) {
    SlowNotice notice;
    WorkTimer timer(Work::opening);
    auto made = make(index);
    notice.done([&] { return fmt::format("opening cuda:{}", index); });
    if (!made)
      return makeError(ErrorKind::device,
                       fmt::format("device cuda:{} is not available: {}", index,
                                   made.error().message));
    opened[index] = *made;
  }
  return opened[index];
}

Result<CudaDevice *> CudaDevice::make(uint8_t index) {
  SINTER_TRY_ASSIGN(const Driver *driver, Driver::open());
  if (uint8_t devices = count(); index >= devices)
    return makeError(ErrorKind::device,
                     fmt::format("the driver has {} devices", devices));
  Description about;
  char name[256] = "";
  SINTER_TRY(driver->check("cuDeviceGetName",
                           driver->deviceName(name, sizeof(name), index)));
  about.name = name;
  std::pair<int, int *> attributes[] = {
      {multiprocessorCount, &about.multiprocessors},
      {computeCapabilityMajor, &about.major},
      {computeCapabilityMinor, &about.minor},
      {threadsOfMultiprocessor, &about.threads},
      {registersOfMultiprocessor, &about.registers},
      {sharedBytesOfMultiprocessor, &about.sharedBytes},
      {sharedBytesOfBlock, &about.blockBytes}};
  for (auto [attribute, value] : attributes)
    SINTER_TRY(driver->check("cuDeviceGetAttribute",
                             driver->deviceAttribute(value, attribute, index)));
  Context context = nullptr;
  SINTER_TRY(driver->check("cuDevicePrimaryCtxRetain",
                           driver->retainContext(&context, index)));
  SINTER_TRY(driver->check("cuCtxSetCurrent", driver->setContext(context)));
  size_t available = 0;
  SINTER_TRY(driver->check("cuMemGetInfo",
                           driver->memoryInfo(&available, &about.bytes)));
  Stream stream = nullptr;
  SINTER_TRY(driver->check("cuStreamCreate",
                           driver->createStream(&stream, nonBlocking)));
  return new CudaDevice(*driver, index, context, stream, std::move(about));
}

CudaDevice::CudaDevice(const Driver &driver, uint8_t index, Context context,
                       Stream stream, Description description)
    : driver(driver), deviceId{DeviceKind::cuda, index}, context(context),
      stream(stream), about(std::move(description)),
      launches{driver, toString(deviceId), about.multiprocessors,
               about.sharedBytes},
      memory(driver, context),
      allocator(memory, toString(deviceId), memoryLimit(about.bytes)),
      staging(driver, stream), uploads(driver, context, stream),
      reporter(driver) {}

std::string CudaDevice::description() const {
  return fmt::format("{}, {} multiprocessors, compute capability {}.{}",
                     about.name, about.multiprocessors, about.major,
                     about.minor);
}

std::string CudaDevice::profile() const {
  constexpr int architectures[] = {50, 52, 60, 61, 70,  75,  80,
                                   86, 87, 89, 90, 100, 103, 120};
  int own = about.capability();
  std::string list;
  for (int each : architectures)
    if (each <= own)
      list += fmt::format("{}sm_{}", list.empty() ? "" : ",", each);
  if (own == 90)
    list += ",sm_90a";
  return list;
}

std::string CudaDevice::target() const {
  return cudaTargetOf({about.capability(), about.multiprocessors,
                       about.registers, about.threads, about.blockBytes});
}

MemoryInfo CudaDevice::memoryInfo() const {
  CachingAllocator::Usage usage = allocator.usage();
  size_t available = 0, total = about.bytes;
  if (enter())
    driver.memoryInfo(&available, &total);
  MemoryInfo info;
  info.total = std::min(usage.limit, total);
  info.inUse = usage.inUse;
  info.reserved = usage.inUse + usage.cached;
  info.peak = usage.peak;
  info.available =
      std::min(available + usage.cached, usage.limit - usage.inUse);
  return info;
}

Status CudaDevice::check(std::string_view what, Code code) const {
  if (code == success)
    return {};
  return driver.error(fmt::format("{}: {}", toString(deviceId), what), code);
}

Status CudaDevice::enter() const {
  return check("cuCtxSetCurrent", driver.setContext(context));
}

Result<BufferRef> CudaDevice::allocate(size_t bytes) {
  SINTER_TRY(checkProcess());
  return allocator.allocate(*this, bytes);
}

void CudaDevice::free(Buffer *buffer) { allocator.free(buffer); }

Status CudaDevice::copyIn(Buffer &to, size_t offset,
                          std::span<const std::byte> from) {
  SINTER_TRY(checkCopy("copy in", *this, to, offset, from.size()));
  to.bumpVersion();
  if (from.empty())
    return {};
  SINTER_TRY(enter());
  return check("copy in", staging.copyIn(addressOf(to.data()) + offset, from));
}

Status CudaDevice::copyOut(std::span<std::byte> to, const Buffer &from,
                           size_t offset) {
  SINTER_TRY(checkCopy("copy out", *this, from, offset, to.size()));
  if (to.empty())
    return {};
  SINTER_TRY(enter());
  SINTER_TRY(check("copy out",
                   driver.copyOut(to.data(), addressOf(from.data()) + offset,
                                  to.size(), stream)));
  return synchronize();
}

Result<std::unique_ptr<Upload>> CudaDevice::upload(size_t bytes) {
  SINTER_TRY(checkProcess());
  if (bytes == 0)
    return Device::upload(bytes);
  return uploads.begin(*this, bytes);
}

Status CudaDevice::copy(Buffer &to, const Buffer &from, size_t bytes) {
  SINTER_TRY(checkCopy("copy", *this, to, 0, bytes));
  SINTER_TRY(checkCopy("copy", *this, from, 0, bytes));
  to.bumpVersion();
  return move(to.data(), from.data(), bytes);
}

void CudaDevice::reach(const CudaDevice &other) {
  std::lock_guard lock(reachMutex);
  if (reached.test(other.deviceId.index))
    return;
  reached.set(other.deviceId.index);
  int reaches = 0;
  // Without it the driver copies through the host.
  if (driver.canReachPeer(&reaches, deviceId.index, other.deviceId.index) ==
          success &&
      reaches)
    driver.reachPeer(other.context, 0);
}

Status CudaDevice::precede(const CudaDevice &other) {
  SINTER_TRY_ASSIGN(std::unique_ptr<Event> event, record());
  SINTER_TRY(other.enter());
  return check("copy across",
               static_cast<CudaEvent &>(*event).holdUp(other.stream));
}

Status CudaDevice::copyAcross(Buffer &to, const Buffer &from, size_t bytes) {
  if (from.device().id().kind != DeviceKind::cuda)
    return Device::copyAcross(to, from, bytes);
  auto &other = static_cast<CudaDevice &>(from.device());
  SINTER_TRY(checkCopy("copy", *this, to, 0, bytes));
  SINTER_TRY(checkCopy("copy", other, from, 0, bytes));
  to.bumpVersion();
  if (bytes == 0)
    return {};
  SINTER_TRY(other.precede(*this));
  SINTER_TRY(enter());
  reach(other);
  SINTER_TRY(
      check("copy across", driver.copyPeer(addressOf(to.data()), context,
                                           addressOf(from.data()),
                                           other.context, bytes, stream)));
  return precede(other);
}

Status CudaDevice::move(void *to, const void *from, size_t bytes) {
  if (bytes == 0)
    return {};
  SINTER_TRY(enter());
  return check("copy",
               driver.copy(addressOf(to), addressOf(from), bytes, stream));
}

Result<std::unique_ptr<Image>>
CudaDevice::loadImage(std::span<const std::byte> bytes) {
  SINTER_TRY(enter());
  return loadCudaImage(driver, toString(deviceId), about.capability(), stream,
                       bytes);
}

Status CudaDevice::launch(const LaunchArgs &args) {
  static SINTER_THREAD_LOCAL auto ofThread = std::make_unique<CudaLaunch>();
  CudaLaunch &launch = *ofThread;
  SINTER_TRY(packLaunch(launches, args, launch));
  if (launch.isEmpty())
    return {};
  SINTER_TRY(enter());
  auto [x, y, z] = launch.grid;
  auto [width, height, depth] = launch.block;
  Code code = driver.launch(launch.function, x, y, z, width, height, depth,
                            launch.sharedBytes, stream,
                            launch.parameters.data(), nullptr);
  if (code == success)
    return {};
  return check(fmt::format("launch {}", args.block->launch), code);
}

Result<std::unique_ptr<WorkGraph>>
CudaDevice::makeGraph(std::span<const GraphNode> nodes,
                      const WatchedWord &word) {
  return makeCudaGraph(launches, context, stream, reporter, nodes, word);
}

Result<std::unique_ptr<Event>> CudaDevice::record() {
  SINTER_TRY(enter());
  DriverEvent event = nullptr;
  SINTER_TRY(check("cuEventCreate", driver.createEvent(&event, disableTiming)));
  auto made = std::make_unique<CudaEvent>(driver, event);
  SINTER_TRY(check("cuEventRecord", driver.recordEvent(event, stream)));
  return std::unique_ptr<Event>(std::move(made));
}

Status CudaDevice::synchronize() {
  SINTER_TRY(enter());
  return check("synchronize", driver.synchronize(stream));
}

Status CudaDevice::order(Stream first, Stream second) {
  SINTER_TRY(enter());
  DriverEvent event = nullptr;
  SINTER_TRY(check("cuEventCreate", driver.createEvent(&event, disableTiming)));
  CudaEvent mark(driver, event);
  SINTER_TRY(check("cuEventRecord", driver.recordEvent(event, first)));
  return check("cuStreamWaitEvent", mark.holdUp(second));
}

Status CudaDevice::followStream(void *other) {
  return order(static_cast<Stream>(other), stream);
}

Status CudaDevice::leadStream(void *other) {
  return order(stream, static_cast<Stream>(other));
}
