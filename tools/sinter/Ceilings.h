/// Ceilings: the most that this machine does, measured now.
#pragma once

#include <cstdint>

namespace sinter::cli {

/// What the process's pool of threads reaches together.
struct Ceilings {
  double bytesPerSecond = 0; ///< of a copy larger than the caches, both ways
  double flopsPerSecond = 0; ///< of f32 multiply-adds in registers
};

/// Takes about a third of a second.
Ceilings measureCeilings();

/// What a launch cannot be faster than, and by what.
struct Bound {
  bool byMemory = true;
  double nanoseconds = 0;
};
Bound boundOf(const Ceilings &ceilings, uint64_t bytes, uint64_t flops);

} // namespace sinter::cli
