/// Launches kernels on the calling thread or the pool.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/device/ThreadPool.h"
#include "runtime/device/cpu/CpuFeatures.h"
#include "runtime/device/cpu/CpuImage.h"
#include "runtime/support/FloatingPoint.h"

#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;

namespace {

/// Work below this is not worth waking a second thread for.
constexpr float parallelMicroseconds = 50;

void runChunks(void *context, int64_t first, int64_t last) {
  const auto &args = *static_cast<const LaunchArgs *>(context);
  auto function = reinterpret_cast<KernelFunction>(
      reinterpret_cast<uintptr_t>(args.function));
  function(args.block, nullptr, first, last);
}

} // namespace

std::string CpuDevice::description() const {
  return fmt::format("{}, {} threads", cpuModelName(),
                     ThreadPool::instance().threads());
}

std::string CpuDevice::profile() const {
  return joinFeatures(hostCpuFeatures());
}

Result<std::unique_ptr<Image>>
CpuDevice::loadImage(std::span<const std::byte> bytes) {
  return loadCpuImage(bytes);
}

Status CpuDevice::launch(const LaunchArgs &args) {
  if (!args.function)
    return makeError(ErrorKind::internal, "cpu: launch without a function");
  if (args.chunks <= 0)
    return {};
  DefaultFloats floats;
  float estimate = float(args.chunks) * args.chunkMicroseconds;
  if (args.chunks == 1 || estimate < parallelMicroseconds) {
    runChunks(const_cast<LaunchArgs *>(&args), 0, args.chunks);
    return {};
  }
  sinter_parallel_for(runChunks, const_cast<LaunchArgs *>(&args), args.chunks);
  return {};
}
