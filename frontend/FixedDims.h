/// FixedDims: where a symbolic dim has to be a number.
#pragma once

#include "runtime/graph/Builders.h"
#include "runtime/support/SmallVector.h"

namespace sinter::detail {

/// The node with the number that its dim along an axis is now: a guard, where
/// it is symbolic.
inline Result<graph::NodeRef> withNumber(const graph::NodeRef &node,
                                         size_t axis) {
  if (node->dims()[axis].isConstant())
    return node;
  SmallVector<Dim, 6> shape(node->dims());
  shape[axis] = Dim(shape[axis].value);
  return graph::reshape(node, shape);
}

} // namespace sinter::detail
