/// FixedDims: where symbolic dims have to be numbers.
#pragma once

#include "runtime/graph/Builders.h"
#include "runtime/support/SmallVector.h"

#include <algorithm>

namespace sinter::detail {

/// The node with the numbers that `count` of its dims, from an axis on, are
/// now: a guard, where some are symbolic.
inline Result<graph::NodeRef> withNumbers(const graph::NodeRef &node,
                                          size_t axis, size_t count = 1) {
  auto fixed = node->dims().subspan(axis, count);
  if (std::ranges::all_of(fixed, &Dim::isConstant))
    return node;
  SmallVector<Dim, 6> shape(node->dims());
  for (size_t i = axis; i < axis + count; ++i)
    shape[i] = Dim(shape[i].value);
  return graph::reshape(node, shape);
}

} // namespace sinter::detail
