/// Convolve: what the decompositions of the convolutions share.
#pragma once

#include "runtime/graph/Windows.h"

#include <initializer_list>

namespace sinter::graph {

/// A convolution being written out.
struct Conv {
  Windows windows;
  int64_t groups = 1;

  size_t rank() const { return windows.rank(); }
  /// Whether each group is one channel of the image.
  bool isDepthwise(const NodeRef &weight) const {
    Dim channels = weight->dims()[1];
    return groups > 1 && channels.isConstant() && channels.value == 1;
  }
};

/// Positions of an axis list: first, first + 1, ...
struct AxisRange {
  size_t first, count;
};

/// All of them, one range after another.
term::IntList orderOf(std::initializer_list<AxisRange> ranges);

/// The convolution of x by weight[o, i, k..], in other ops.
Result<NodeRef> convolve(const Conv &conv, const NodeRef &x,
                         const NodeRef &weight);

} // namespace sinter::graph
