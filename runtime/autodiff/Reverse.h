/// Reverse: gradients of a recorded graph, as a recorded graph.
#pragma once

#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <span>
#include <vector>

namespace sinter::autodiff {

/// A leaf that asked for gradients, and its gradient.
struct LeafGradient {
  graph::NodeRef leaf;
  graph::NodeRef gradient;
};

/// An output, and the gradient to start with: of its dtype and shape.
struct Seed {
  graph::NodeRef output;
  graph::NodeRef cotangent;
};

/// The gradients of `output` with respect to each of `wrt`, which may be
/// leaves or interior nodes; an empty ref where output does not depend on it.
/// `cotangent` has output's dtype and shape. Nothing is evaluated: the result
/// is ordinary recorded ops with the source lines of the ops they come from.
///
/// Fails with invalid_argument when history on the way was released; then
/// `released`, if given, is set to the node that lost it.
Result<std::vector<graph::NodeRef>>
gradients(const graph::NodeRef &output, const graph::NodeRef &cotangent,
          std::span<const graph::NodeRef> wrt,
          graph::NodeRef *released = nullptr);

/// The same of several outputs at once: the sum over the seeds.
Result<std::vector<graph::NodeRef>>
gradients(std::span<const Seed> seeds, std::span<const graph::NodeRef> wrt,
          graph::NodeRef *released = nullptr);

/// The same for every leaf below `output` that requires a gradient and that
/// output depends on, in post-order.
Result<std::vector<LeafGradient>>
leafGradients(const graph::NodeRef &output, const graph::NodeRef &cotangent,
              graph::NodeRef *released = nullptr);

} // namespace sinter::autodiff
