/// Composites in other ops: generated from the records.
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Terms.h"

#include "sinter/generated/Decompositions.cpp.inc"

namespace sinter::graph {

Result<NodeRef> decompose(OpId op, std::span<const NodeRef> operands,
                          std::span<const uint64_t> attrs) {
  return dispatchDecomposition(op, operands, attrs);
}

} // namespace sinter::graph
