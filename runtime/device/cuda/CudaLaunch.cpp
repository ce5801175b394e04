/// Arguments, tensor maps and grids of launches.
#include "runtime/device/cuda/CudaLaunch.h"

#include <algorithm>
#include <fmt/format.h>

using namespace sinter;
using namespace sinter::runtime;
using namespace sinter::runtime::cuda;

static uint64_t wordOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

/// Appends the tensor maps of a launch to the words that it passes.
static Status appendTensorMaps(const LaunchTarget &target,
                               const CudaKernel &kernel, const LaunchArgs &args,
                               std::vector<uint64_t> &words) {
  if (kernel.maps.empty())
    return {};
  words.resize(wordsBeforeMaps(words.size()));
  for (const TensorMap &map : kernel.maps) {
    alignas(tensorMapAlignment) uint64_t encoded[tensorMapBytes / 8];
    Status status =
        encodeTensorMap(target.driver, map, {args.block->dims, args.numDims},
                        {args.block->buffers, args.numBuffers}, encoded);
    if (!status) {
      ErrorInfo error = status.takeError();
      error.message = fmt::format("{}: launch {}: {}", target.device,
                                  args.block->launch, error.message);
      return error;
    }
    words.insert(words.end(), std::begin(encoded), std::end(encoded));
  }
  return {};
}

/// The addresses that a user's kernel takes.
static Status packGiven(const LaunchTarget &target, const LaunchArgs &args,
                        const GivenLaunch &given, CudaLaunch &launch) {
  for (uint32_t number : given.buffers) {
    if (number >= args.numBuffers)
      return makeError(ErrorKind::io,
                       fmt::format("{}: launch {} has no buffer {}",
                                   target.device, args.block->launch, number));
    launch.words.push_back(wordOf(args.block->buffers[number]));
  }
  for (uint64_t &word : launch.words)
    launch.parameters.push_back(&word);
  launch.grid = given.grid;
  launch.block = given.block;
  return {};
}

Status sinter::runtime::packLaunch(const LaunchTarget &target,
                                   const LaunchArgs &args, CudaLaunch &launch) {
  if (!args.function)
    return makeError(ErrorKind::internal,
                     target.device + ": launch without a function");
  launch.grid = {0, 1, 1};
  launch.words.clear();
  launch.parameters.clear();
  if (args.chunks <= 0)
    return {};
  const auto &kernel = *static_cast<const CudaKernel *>(args.function);
  launch.function = kernel.function;
  launch.sharedBytes = kernel.bytes;
  launch.waits = kernel.waits;
  launch.gathers = kernel.gathers;
  launch.residentBytes = kernel.residentBytes;
  if (kernel.given)
    return packGiven(target, args, *kernel.given, launch);
  std::vector<uint64_t> &words = launch.words;
  words = {wordOf(args.block->error), args.block->launch,
           uint64_t(args.chunks)};
  for (uint32_t i = 0; i < args.numDims; ++i)
    words.push_back(uint64_t(args.block->dims[i]));
  for (uint32_t i = 0; i < args.numBuffers; ++i)
    words.push_back(wordOf(args.block->buffers[i]));
  SINTER_TRY(appendTensorMaps(target, kernel, args, words));
  uint64_t blocks = (uint64_t(args.chunks) + kernel.warps - 1) / kernel.warps;
  if (!kernel.maps.empty())
    blocks = std::min<uint64_t>(args.chunks, uint64_t(target.multiprocessors) *
                                                 kernel.blocks);
  if (blocks > INT32_MAX)
    return makeError(ErrorKind::unsupported,
                     fmt::format("{}: launch {} has {} chunks", target.device,
                                 args.block->launch, args.chunks));
  launch.parameters = {words.data()};
  launch.grid = {uint32_t(blocks), 1, 1};
  launch.block = {kernel.warps * warpLanes, 1, 1};
  return {};
}
