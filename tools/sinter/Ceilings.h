/// Ceilings: the most that a device does, measured now.
#pragma once

#include "runtime/device/Device.h"
#include "tools/sinter/Arguments.h"

#include <cstdint>

namespace sinter::cli {

/// What the process's pool of threads reaches together, or another device.
struct Ceilings {
  double bytesPerSecond = 0; ///< of a copy larger than the caches, both ways
  /// Of f32 multiply-adds in registers; of another device, of a product of
  /// bf16.
  double flopsPerSecond = 0;
};

/// Takes about a third of a second; on another device, which the arguments of
/// a command name, longer, since its kernels are compiled.
Result<Ceilings> measureCeilings(const runtime::Device &device,
                                 const Arguments &arguments);

/// What a launch cannot be faster than, and by what.
struct Bound {
  bool byMemory = true;
  double nanoseconds = 0;
};
Bound boundOf(const Ceilings &ceilings, uint64_t bytes, uint64_t flops);

} // namespace sinter::cli
