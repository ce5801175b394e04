/// Slice: from recorded nodes to the portable Graph.
#pragma once

#include "runtime/graph/Key.h"
#include "sinter/runtime/Graph.h"
#include "sinter/runtime/Node.h"
#include "sinter/runtime/Result.h"

#include <span>
#include <vector>

namespace sinter::graph {

/// A Graph and the nodes that it was made from.
struct Slice {
  Graph graph;
  std::vector<NodeRef> nodes;  ///< one per value
  std::vector<NodeRef> inputs; ///< one per Graph::inputs
};

/// The Graph of a numbered slice. Symbols that guards make equal are one,
/// symbols that guards fix are constants: Graph::guards holds what is left.
Slice toGraph(KeyedSlice &slice);

/// Both steps. Fails with the error of a failed node. `given` nodes are the
/// first inputs, as of KeyedSlice::compute.
Result<Slice> slice(std::span<const NodeRef> outputs,
                    std::span<const NodeRef> given = {});

} // namespace sinter::graph
