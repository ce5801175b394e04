/// MemoryBudget: what this process may take of the machine's memory.
#pragma once

#include <cstddef>

namespace sinter::runtime {

/// Bytes of host memory, as the machine and the process's cgroups allow.
struct MemoryBudget {
  size_t total = 0;   ///< the lowest limit that holds
  size_t inUse = 0;   ///< taken from that total, by whomever
  size_t reserve = 0; ///< kept free for the rest of the process and machine

  /// What may still be allocated.
  size_t available() const {
    size_t taken = inUse + reserve;
    return taken < total ? total - taken : 0;
  }

  static MemoryBudget detect();
};

/// Processors that the cgroups' quotas allow, rounded up; 0 means no quota.
unsigned cgroupCpuQuota();

} // namespace sinter::runtime
