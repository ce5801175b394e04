/// CudaGraph: work of a GPU that the driver repeats by one call.
///
/// The nodes are added one by one, not captured from a stream: what depends on
/// what is known, and the handles are there by which a node gets new arguments.
#pragma once

#include "runtime/device/cuda/CudaLaunch.h"
#include "runtime/device/cuda/WordReporter.h"

#include <memory>
#include <span>

namespace sinter::runtime {

/// Makes a graph whose launches go to `stream`.
Result<std::unique_ptr<WorkGraph>>
makeCudaGraph(const LaunchTarget &target, cuda::Context context,
              cuda::Stream stream, WordReporter &reporter,
              std::span<const GraphNode> nodes, const WatchedWord &word);

} // namespace sinter::runtime
