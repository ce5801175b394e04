/// Editing of numbered graphs, together with their inputs' values.
#pragma once

#include "runtime/reference/Repro.h"

#include <optional>
#include <set>
#include <vector>

namespace sinter::cli {

/// A graph and a value for each of its inputs.
struct BoundGraph {
  graph::Graph graph;
  std::vector<reference::HostTensor> inputs;
};

/// Numbers of the values that are computed, ascending.
std::vector<uint32_t> computedValues(const graph::Graph &graph);

/// The graph with these outputs only, and what they need.
BoundGraph withOutputs(const BoundGraph &from, std::vector<uint32_t> outputs);

/// The graph with the values in `cut` as inputs; `values` has what each of the
/// graph's values is.
BoundGraph withCuts(const BoundGraph &from, const std::set<uint32_t> &cut,
                    const std::vector<reference::HostTensor> &values);

/// The reference's value of each value of the graph; nothing when it fails.
std::optional<std::vector<reference::HostTensor>>
allValues(const BoundGraph &from);

/// The graph with every dim a constant, as the inputs have them; nothing when
/// the shape rules refuse it.
std::optional<BoundGraph> withConstantDims(const BoundGraph &from);

/// Whether some input's dim is each symbol: the inputs say what it is.
bool bindsSymbols(const BoundGraph &from);

/// The extents above 1 of a graph with constant dims, the largest first.
std::vector<int64_t> extentsOf(const graph::Graph &graph);

/// The graph with every dim of extent `from` made `to` and inputs cut to
/// their leading elements; nothing when the shape rules refuse it.
std::optional<BoundGraph> withExtent(const BoundGraph &graph, int64_t from,
                                     int64_t to);

} // namespace sinter::cli
