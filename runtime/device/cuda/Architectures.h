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
  /// Bytes of shared memory that a block can ask for on every card that runs
  /// its code (CUDA C++ Programming Guide, "Technical Specifications per
  /// Compute Capability").
  int64_t blockBytes = 0;
  /// Of the card that is usual; others say theirs.
  int64_t multiprocessors = 0, clockMegahertz = 0;
  /// Additions of a multiprocessor in a cycle, of 32 bits and of 64 (the same
  /// guide, "Throughput of Native Arithmetic Instructions").
  int64_t operations = 0, wideOperations = 0;
  /// That memory moves in a cycle of a multiprocessor.
  int64_t memoryBytes = 0;
  /// Of a multiprocessor ("Technical Specifications per Compute Capability").
  int64_t registers = 64 << 10, threads = 2048;
};

/// What a driver says of a card.
struct CudaCard {
  int capability = 0;
  int64_t multiprocessors = 0, registers = 0, threads = 0, blockBytes = 0;
};

/// From the oldest on.
std::span<const CudaArchitecture> cudaArchitectures();

/// As `cuda:sm_90` says it; null where it is none.
const CudaArchitecture *findCudaArchitecture(std::string_view name);

/// The target for a card: `cuda:sm_90`, or `cuda:sm_90{multiprocessors=114}`
/// where it has not what is usual. Of a capability that is not known it is the
/// newest one before it; of 11.0 and later the oldest.
std::string cudaTargetOf(const CudaCard &card);

} // namespace sinter::runtime
