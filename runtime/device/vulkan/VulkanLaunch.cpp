/// Arguments and grids of launches.
#include "runtime/device/vulkan/VulkanLaunch.h"

#include "runtime/device/vulkan/IndexLimit.h"
#include "runtime/device/vulkan/VulkanArguments.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace sinter;
using namespace sinter::runtime;

static uint64_t wordOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// The addresses that a user's kernel takes.
static Status packGiven(const VulkanGpu &gpu, std::string_view device,
                        const LaunchArgs &args, const GivenLaunch &given,
                        VulkanLaunch &launch) {
  for (uint32_t number : given.buffers) {
    if (number >= args.numBuffers)
      return makeError(ErrorKind::io,
                       fmt::format("{}: launch {} has no buffer {}", device,
                                   args.block->launch, number));
    launch.words.push_back(wordOf(args.block->buffers[number]));
  }
  if (std::ranges::max(given.grid) > gpu.about.mostGroups)
    return makeError(ErrorKind::unsupported,
                     fmt::format("{}: launch {} has a grid of {{{}}}, the "
                                 "device takes {} workgroups",
                                 device, args.block->launch,
                                 fmt::join(given.grid, ", "),
                                 gpu.about.mostGroups));
  launch.columns = given.grid[0];
  launch.rows = given.grid[1];
  launch.layers = given.grid[2];
  return {};
}

/// Whether the launch's indices have enough bits.
static Status checkIndices(std::string_view device, const LaunchArgs &args,
                           const VulkanKernel &kernel) {
  if (!kernel.sizes)
    return {};
  SINTER_TRY_ASSIGN(int64_t most, largestSize(*kernel.sizes, {args.block->dims,
                                                              args.numDims}));
  most = std::max(most, args.chunks);
  if (most <= mostElements32)
    return {};
  return makeError(
      ErrorKind::unsupported,
      fmt::format("{}: launch {} has a tensor of {} elements; of kernels made "
                  "for unknown sizes, or without shaderInt64, one has up to {}",
                  device, args.block->launch, most, mostElements32));
}

Status sinter::runtime::packLaunch(const VulkanGpu &gpu,
                                   std::string_view device,
                                   const LaunchArgs &args,
                                   VulkanLaunch &launch) {
  if (!args.function)
    return makeError(ErrorKind::internal,
                     fmt::format("{}: launch without a function", device));
  launch.columns = 0;
  launch.layers = 1;
  launch.words.clear();
  if (args.chunks <= 0)
    return {};
  const auto &kernel = *static_cast<const VulkanKernel *>(args.function);
  launch.pipeline = kernel.pipeline;
  if (kernel.given)
    return packGiven(gpu, device, args, *kernel.given, launch);
  SINTER_TRY(checkIndices(device, args, kernel));
  static_assert(sizeof(VulkanArguments) == 3 * sizeof(uint64_t));
  launch.words = {wordOf(args.block->error), args.block->launch,
                  uint64_t(args.chunks)};
  for (uint32_t i = 0; i < args.numDims; ++i)
    launch.words.push_back(uint64_t(args.block->dims[i]));
  for (uint32_t i = 0; i < args.numBuffers; ++i)
    launch.words.push_back(wordOf(args.block->buffers[i]));
  const uint64_t most = gpu.about.mostGroups;
  uint64_t groups =
      (uint64_t(args.chunks) + kernel.subgroups - 1) / kernel.subgroups;
  uint64_t columns = std::min(groups, most);
  uint64_t rows = (groups + columns - 1) / columns;
  if (rows > most)
    return makeError(ErrorKind::unsupported,
                     fmt::format("{}: launch {} has {} chunks", device,
                                 args.block->launch, args.chunks));
  launch.columns = uint32_t(columns);
  launch.rows = uint32_t(rows);
  return {};
}
