/// Decompositions that are written in C++ (DecompositionFn records name them).
#pragma once

#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <cstdint>
#include <span>

namespace sinter::graph {

/// The windows of the padded image times the weight, summed by one matmul; by
/// products and a sum where each group is one channel.
Result<NodeRef> decomposeConv(std::span<const NodeRef> operands,
                              std::span<const uint64_t> attrs);
/// A convolution of the spread image with the flipped weight.
Result<NodeRef> decomposeConvTranspose(std::span<const NodeRef> operands,
                                       std::span<const uint64_t> attrs);
/// The gradient times the windows, summed over batch and positions.
Result<NodeRef> decomposeConvWeight(std::span<const NodeRef> operands,
                                    std::span<const uint64_t> attrs);
Result<NodeRef> decomposeMaxPool(std::span<const NodeRef> operands,
                                 std::span<const uint64_t> attrs);
Result<NodeRef> decomposeAvgPool(std::span<const NodeRef> operands,
                                 std::span<const uint64_t> attrs);

} // namespace sinter::graph
