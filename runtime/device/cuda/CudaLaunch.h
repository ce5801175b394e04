/// CudaLaunch: a launch of a kernel phase as the driver takes it.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaImage.h"

#include <array>
#include <string>
#include <vector>

namespace sinter::runtime {

/// What packing a launch has to know of its device.
struct LaunchTarget {
  const cuda::Driver &driver;
  std::string device; ///< `cuda:0`, for errors
  int multiprocessors = 0;
  int sharedBytes = 0; ///< that a multiprocessor has at most
};

struct CudaLaunch {
  cuda::Function function = nullptr;
  /// x, y, z; no blocks: nothing to do.
  std::array<uint32_t, 3> grid = {0, 1, 1}, block = {1, 1, 1};
  unsigned sharedBytes = 0;
  bool waits = false;   ///< as a CudaKernel does
  bool gathers = false; ///< as a CudaKernel does
  uint32_t residentBytes = 0;
  /// The kernel's one parameter; of a user's kernel the parameters, one each.
  std::vector<uint64_t> words;
  std::vector<void *> parameters; ///< where they are among the words

  bool isEmpty() const { return grid[0] == 0; }
};

/// Fills `launch`. The arguments are read now. An error of kind `internal`,
/// `unsupported` or `device` names the device and the launch.
Status packLaunch(const LaunchTarget &target, const LaunchArgs &args,
                  CudaLaunch &launch);

} // namespace sinter::runtime
