/// Architectures: GPUs by their compute capability.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::runtime {

struct CudaArchitecture {
  std::string_view name; ///< `sm_90`
  int capability = 0;    ///< 90 is 9.0
  /// Whose PTX is made for it: `sm_80` or `sm_90`.
  std::string_view code;
  /// Bytes of shared memory that a block can ask for (CUDA C++ Programming
  /// Guide, "Technical Specifications per Compute Capability"): never less than
  /// on those before it.
  int64_t blockBytes = 0;
  /// Of the card that is usual; others say theirs.
  int64_t multiprocessors = 0;
};

/// From the oldest on.
std::span<const CudaArchitecture> cudaArchitectures();

/// As `cuda:sm_90` says it; null where it is none.
const CudaArchitecture *findCudaArchitecture(std::string_view name);

/// The target for a card: `cuda:sm_90`, or `cuda:sm_90{multiprocessors=114}`
/// where it has not as many as is usual. Of a capability that is not known it
/// is the newest one before it; of 11.0 and later the oldest.
std::string cudaTargetOf(int capability, int64_t multiprocessors);

} // namespace sinter::runtime
