/// Replays: a case's program alone, run as those of model files are. A call
/// records nothing: what a captured CUDA graph of a peer is compared with.
#pragma once

#include "tools/benchmarks/native/Step.h"

#include <memory>

namespace bench {

/// Of what `record` gives; `copies` recordings, whose inputs calls take in
/// turn. Throws sinter::Error.
std::unique_ptr<Work> replaysOf(const Calls::Record &record, size_t copies);

} // namespace bench
