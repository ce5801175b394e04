/// The rows of docs/semantics.md on compiled programs.
#include "tests/property/Compiled.h"
#include "tests/unit/reference/HostRows.h"

namespace sinter::reference {

Result<std::vector<HostTensor>>
evaluateGraph(const graph::Graph &graph, std::span<const HostTensor> inputs) {
  SINTER_TRY_ASSIGN(auto program, property::compileGraph(graph));
  return property::runProgram(*program, inputs);
}

} // namespace sinter::reference
