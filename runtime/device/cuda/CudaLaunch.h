/// CudaLaunch: a launch of a kernel phase as the driver takes it.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/CudaImage.h"

#include <string>
#include <vector>

namespace sinter::runtime {

/// What packing a launch has to know of its device.
struct LaunchTarget {
  const cuda::Driver &driver;
  std::string device; ///< `cuda:0`, for errors
  int multiprocessors = 0;
};

struct CudaLaunch {
  cuda::Function function = nullptr;
  unsigned blocks = 0; ///< 0: nothing to do
  unsigned threads = 0;
  unsigned sharedBytes = 0;
  std::vector<uint64_t> words; ///< the kernel's one parameter
};

/// Fills `launch`. The arguments are read now. An error of kind `internal`,
/// `unsupported` or `device` names the device and the launch.
Status packLaunch(const LaunchTarget &target, const LaunchArgs &args,
                  CudaLaunch &launch);

} // namespace sinter::runtime
