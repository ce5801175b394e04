/// CudaImage: the kernels of a program on a GPU.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/GivenLaunch.h"
#include "runtime/device/cuda/Driver.h"
#include "runtime/device/cuda/TensorMap.h"

namespace sinter::runtime {

/// A kernel phase on a GPU. A warp works on a chunk, or, where the kernel has
/// tensor maps, a block on one chunk after another.
struct CudaKernel {
  cuda::Function function = nullptr;
  uint32_t warps = 1;  ///< of a block
  uint32_t bytes = 0;  ///< of shared memory that a launch asks for
  uint32_t blocks = 1; ///< that a multiprocessor has room for, where it is said
  /// Whether it waits by itself for the kernels before it, and lets those
  /// behind it start early.
  bool waits = false;
  /// Whether its warps read lines in pieces, again and again: from the part of
  /// a multiprocessor's memory that shared memory leaves to its cache.
  bool gathers = false;
  /// Shared memory that blocks take of a multiprocessor that is full of them.
  uint32_t residentBytes = 0;
  std::vector<TensorMap> maps;
  std::optional<GivenLaunch> given; ///< of a kernel that is a user's
};

/// The name of the array that stands for the shared memory that launches of a
/// kernel ask for. PTX has no other place to say how much it is.
std::string launchedMemoryName(std::string_view kernel, uint64_t bytes);

/// The line behind a kernel's text that says that it gathers.
std::string gathersLine(std::string_view kernel);

/// What a kernel gets, after which dims and buffer addresses follow, one word
/// of 64 bits each, and its tensor maps.
struct CudaArguments {
  uint64_t error;  ///< address of the error word
  uint64_t launch; ///< step number, for the error word
  uint64_t chunks;
};
inline constexpr uint32_t warpLanes = 32;

/// Loads the PTX modules of an image, which stand one after the other, each
/// ended by a zero byte. ptxas, or else the driver, compiles them for its
/// device, whose compute capability is given (90 is 9.0). Before they are
/// unloaded, the work of `stream` is waited for.
Result<std::unique_ptr<Image>> loadCudaImage(const cuda::Driver &driver,
                                             std::string_view device,
                                             int capability,
                                             cuda::Stream stream,
                                             std::span<const std::byte> bytes);

} // namespace sinter::runtime
