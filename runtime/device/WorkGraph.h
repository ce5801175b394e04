/// WorkGraph: launches and copies that a device repeats by one call.
#pragma once

#include "runtime/device/KernelAbi.h"
#include "sinter/runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sinter::runtime {

/// A kernel phase of an image, as its device knows it: on cpu the address of a
/// KernelFunction.
using KernelHandle = const void *;

/// One launch of a kernel phase.
struct LaunchArgs {
  KernelHandle function = nullptr;
  const KernelBlock *block = nullptr;
  uint32_t numDims = 0;    ///< of the block
  uint32_t numBuffers = 0; ///< of the block
  int64_t chunks = 0;
  float chunkMicroseconds = 0; ///< an estimate; decides about threads
};

/// A copy within the memory of a device. The ranges may be one, not overlap.
struct CopyArgs {
  void *to = nullptr;
  const void *from = nullptr;
  size_t bytes = 0;
};

/// A launch, or a copy where that has bytes.
struct GraphNode {
  LaunchArgs launch;
  CopyArgs copy;
  /// Nodes before this one that must have ended when it starts.
  std::vector<uint32_t> after;
};

/// A word of 64 bits in the device's memory that the host reads once some nodes
/// have ended. Without an address there is none.
struct WatchedWord {
  const void *address = nullptr;
  std::vector<uint32_t> after;
};

/// Work that one call queues. Not thread-safe; ends with its device's image.
class WorkGraph {
public:
  virtual ~WorkGraph() = default;
  /// Gives a node other buffers, from the next `launch` on: what is queued
  /// keeps its own. Function, chunks and the number of arguments stay.
  virtual Status setLaunch(uint32_t node, const LaunchArgs &args) = 0;
  virtual Status setCopy(uint32_t node, const CopyArgs &args) = 0;
  /// Queues every node, after the work that was queued before.
  virtual Status launch() = 0;
  /// Waits until the nodes that the watched word follows have ended in the
  /// newest launch, though not for others, and returns the word.
  virtual Result<uint64_t> waitForWord() = 0;
};

} // namespace sinter::runtime
