/// Compare: whether two answers differ by more than rounding.
#pragma once

#include "runtime/reference/Reference.h"

#include <span>
#include <string>
#include <vector>

namespace sinter::reference {

/// The graph with every float dtype brought to f64, and tensors for it.
graph::Graph widened(const graph::Graph &graph);
std::vector<HostTensor> widened(std::span<const HostTensor> tensors);

/// A difference that is more than rounding, or empty. `expected` is what the
/// reference gives in the graph's dtypes, `wide` what it gives in f64: how far
/// these are apart tells how much rounding matters, and `inputs` how long sums
/// may be. Integers must be equal.
std::string differenceOf(std::span<const HostTensor> found,
                         std::span<const HostTensor> expected,
                         std::span<const HostTensor> wide,
                         std::span<const HostTensor> inputs);

} // namespace sinter::reference
