/// Windows of an image's space.
#include "runtime/graph/Windows.h"

#include <algorithm>

namespace sinter::graph {

using term::DimList;
using term::IntList;

Windows Windows::read(AttrReader &reader) {
  Windows windows;
  windows.sizes = reader.ints();
  windows.strides = reader.ints();
  windows.low = reader.ints();
  windows.high = reader.ints();
  windows.dilations = reader.ints();
  return windows;
}

IntList Windows::axes() const {
  IntList result;
  for (size_t i = 0; i < rank(); ++i)
    result.push_back(int64_t(firstAxis() + i));
  return result;
}

Result<NodeRef> padSpace(const NodeRef &x, const Windows &windows,
                         Number value) {
  DimList shape(x->dims());
  IntList low(x->rank(), 0), interior(x->rank(), 0);
  bool pads = false;
  for (size_t i = 0; i < windows.rank(); ++i) {
    size_t axis = windows.firstAxis() + i;
    low[axis] = windows.low[i];
    shape[axis] = shape[axis] + Dim(windows.low[i] + windows.high[i]);
    pads |= windows.low[i] != 0 || windows.high[i] != 0;
  }
  return pads ? pad(x, low, shape, interior, value) : x;
}

Result<NodeRef> takeWindows(const NodeRef &x, const Windows &windows,
                            Number value) {
  SINTER_TRY_ASSIGN(NodeRef padded, padSpace(x, windows, value));
  return window(padded, windows.axes(), windows.sizes, windows.strides,
                windows.dilations);
}

IntList insideAxes(const Windows &windows) {
  IntList axes;
  size_t first = windows.channelsFirst() ? 2 : 1 + windows.rank();
  for (size_t i = 0; i < windows.rank(); ++i)
    axes.push_back(int64_t(first + i));
  return axes;
}

Result<NodeRef> takeWindowsInside(const NodeRef &x, const Windows &windows,
                                  Number value) {
  SINTER_TRY_ASSIGN(NodeRef taken, takeWindows(x, windows, value));
  // [n, c, p.., k..] or [n, p.., c, k..]
  IntList order;
  size_t before = windows.channelsFirst() ? 2 : 1 + windows.rank();
  size_t outer = windows.rank() + 2;
  for (size_t axis = 0; axis < before; ++axis)
    order.push_back(int64_t(axis));
  for (size_t axis = outer; axis < outer + windows.rank(); ++axis)
    order.push_back(int64_t(axis));
  for (size_t axis = before; axis < outer; ++axis)
    order.push_back(int64_t(axis));
  return transpose(taken, order);
}

Result<NodeRef> takeFrom(const NodeRef &x, std::span<const int64_t> starts,
                         std::span<const Dim> shape) {
  bool isAll = std::ranges::all_of(starts, [](int64_t s) { return s == 0; }) &&
               identicalDims(x->dims(), shape);
  if (isAll)
    return x;
  DimList limits;
  for (size_t i = 0; i < starts.size(); ++i)
    limits.push_back(shape[i] + Dim(starts[i]));
  IntList steps(x->rank(), 1);
  return slice(x, starts, limits, steps);
}

Result<NodeRef> takeFirst(const NodeRef &x, std::span<const Dim> shape) {
  IntList starts(x->rank(), 0);
  return takeFrom(x, starts, shape);
}

Dim product(std::span<const Dim> dims) {
  Dim result(1);
  for (Dim dim : dims)
    result = result * dim;
  return result;
}

} // namespace sinter::graph
