/// Heads: the parts that attention divides the last axis into.
#pragma once

#include <sinter/sinter.h>

namespace models {
namespace sn = sinter;
using sn::Tensor;

/// [batch, position, size] as [batch, head, position, size / heads].
inline Tensor inHeads(const Tensor &x, int64_t heads) {
  return sn::transpose(sn::unflatten(x, -1, {heads, -1}), {0, 2, 1, 3});
}

/// The heads side by side again.
inline Tensor joined(const Tensor &heads) {
  return sn::flatten(sn::transpose(heads, {0, 2, 1, 3}), 2);
}

} // namespace models
