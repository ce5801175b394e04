/// Composites in other ops: generated from the records.
#include "runtime/graph/AttrWords.h"
#include "runtime/graph/Builders.h"
#include "runtime/graph/Composites.h"
#include "runtime/graph/OpIds.h"
#include "runtime/graph/RecordOp.h"
#include "runtime/graph/Terms.h"
#include "sinter/generated/builders/All.h"

#include <limits>

#include "sinter/generated/Decompositions.cpp.inc"

namespace sinter::graph {

Result<NodeRef> zeros(std::span<const Dim> dims, DType dtype, DeviceId device) {
  if (isComputable(dtype))
    return full(dims, 0, dtype, device);
  SINTER_TRY_ASSIGN(NodeRef numbers, full(dims, 0, DType::f32, device));
  return cast(numbers, dtype);
}

Result<NodeRef> decompose(OpId op, std::span<const NodeRef> operands,
                          std::span<const uint64_t> attrs) {
  OperandTypes types(operands);
  ShapeContext context{op, types};
  SINTER_TRY_ASSIGN(InferredType type, inferType(context, attrs));
  // Without elements there is nothing to compute, and an extremum of nothing
  // inside could not be recorded.
  for (Dim dim : type.dims)
    if (dim.isConstant() && dim.value == 0)
      return zeros(type.dims, type.dtype, operands[0]->device());
  return dispatchDecomposition(op, operands, attrs);
}

} // namespace sinter::graph
