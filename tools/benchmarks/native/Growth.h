/// Cases of `n` alike parts: what compiling twice as many costs.
#pragma once

#include "tools/benchmarks/native/Worker.h"

#include <memory>

namespace bench {

/// Steps of two pointwise ops each, one after the other.
std::unique_ptr<Work> makeGrowingChain(const Case &c);
std::unique_ptr<Work> makeGrowingNumbers(const Case &c);
/// Steps of a stencil made of slices and a pad, on 64 cells.
std::unique_ptr<Work> makeGrowingStencil(const Case &c);
/// Sines in a row.
std::unique_ptr<Work> makeGrowingSines(const Case &c);
/// Steps of a recurrent net, unrolled, and its gradients.
std::unique_ptr<Work> makeGrowingRnn(const Case &c);

} // namespace bench
