/// The rows of docs/semantics.md on runtime/reference.
#include "tests/unit/reference/HostRows.h"

namespace sinter::reference {

Result<std::vector<HostTensor>>
evaluateGraph(const graph::Graph &graph, std::span<const HostTensor> inputs) {
  return evaluate(graph, inputs);
}

} // namespace sinter::reference
