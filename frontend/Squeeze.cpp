/// squeeze and unsqueeze: which axes are meant, over the graph's ops.
#include "frontend/Recording.h"

#include "frontend/Raise.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>

namespace sinter {

Tensor squeeze(const Arg &x, const Axes &axes) try {
  detail::Recorder recorder(graph::OpId::squeeze, x);
  auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
  std::span<const Dim> dims = nodes[0]->dims();
  auto rank = static_cast<int64_t>(dims.size());
  SmallVector<int64_t, 8> gone;
  for (int64_t axis : recorder.axes(axes, rank)) {
    int64_t at = axis < 0 ? axis + rank : axis;
    // The graph's op refuses what is out of range.
    if (at < 0 || at >= rank || dims[at].value == 1)
      gone.push_back(axis);
  }
  return recorder.result(graph::squeeze(nodes[0], gone));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor unsqueeze(const Arg &x, int64_t axis) try {
  detail::Recorder recorder(graph::OpId::unsqueeze, x);
  auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
  auto rank = static_cast<int64_t>(nodes[0]->rank());
  return recorder.result(
      graph::unsqueeze(nodes[0], axis < 0 ? axis + rank + 1 : axis));
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
