/// FixedDims: where symbolic dims have to be numbers.
#pragma once

#include "runtime/graph/Builders.h"
#include "runtime/support/SmallVector.h"

#include <algorithm>

namespace sinter::detail {

/// The node with the numbers that `count` of its dims, from an axis on, are
/// now: a guard of each that is symbolic. Together they would be guarded by
/// their product only.
inline Result<graph::NodeRef> withNumbers(const graph::NodeRef &node,
                                          size_t axis, size_t count = 1) {
  SmallVector<Dim, 6> shape(node->dims());
  graph::NodeRef fixed = node;
  for (size_t i = axis; i < axis + count; ++i) {
    if (shape[i].isConstant())
      continue;
    shape[i] = Dim(shape[i].value);
    SINTER_TRY_ASSIGN(fixed, graph::reshape(fixed, shape));
  }
  return fixed;
}

} // namespace sinter::detail
