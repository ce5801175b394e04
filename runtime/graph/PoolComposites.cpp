/// Pooling in other ops.
#include "runtime/graph/Composites.h"

#include "runtime/graph/Windows.h"

#include <limits>

namespace sinter::graph {

using term::DimList;
using term::IntList;

Result<NodeRef> decomposeMaxPool(std::span<const NodeRef> operands,
                                 std::span<const uint64_t> attrs) {
  AttrReader reader(attrs);
  Windows windows = Windows::read(reader);
  windows.layout = reader.choice<Layout>();
  Number least(-std::numeric_limits<double>::infinity());
  SINTER_TRY_ASSIGN(NodeRef taken,
                    takeWindowsInside(operands[0], windows, least));
  return amax(taken, insideAxes(windows), /*keepdims=*/false);
}

namespace {
/// What is counted around an image's axis.
struct Counted {
  std::span<const int64_t> low, high;
};
} // namespace

/// Whether all of every window is counted.
static bool countsAll(const Windows &windows, const Counted &counted) {
  for (size_t i = 0; i < windows.rank(); ++i)
    if (windows.low[i] > counted.low[i] || windows.high[i] > counted.high[i])
      return false;
  return true;
}

/// The counted elements of the windows along spatial axis i, in `shape`, which
/// has the positions there and ones elsewhere.
static Result<NodeRef> countAlong(const Windows &windows,
                                  const Counted &counted, size_t i, Dim extent,
                                  std::span<const Dim> shape, DType dtype,
                                  DeviceId device) {
  auto number = [&](int64_t value) {
    return full(shape, Number(double(value)), dtype, device);
  };
  size_t axis = windows.firstAxis() + i;
  SINTER_TRY_ASSIGN(NodeRef position,
                    iota(shape, int64_t(axis), dtype, device));
  SINTER_TRY_ASSIGN(NodeRef stride, number(windows.strides[i]));
  SINTER_TRY_ASSIGN(NodeRef start, mul(position, stride));
  SINTER_TRY_ASSIGN(NodeRef before, number(windows.low[i]));
  SINTER_TRY_ASSIGN(start, sub(start, before));
  SINTER_TRY_ASSIGN(NodeRef size, number(windows.sizes[i]));
  SINTER_TRY_ASSIGN(NodeRef end, add(start, size));
  SINTER_TRY_ASSIGN(NodeRef most, graph::extent(extent + Dim(counted.high[i]),
                                                dtype, device));
  SINTER_TRY_ASSIGN(most, broadcast(most, shape));
  SINTER_TRY_ASSIGN(end, minimum(end, most));
  SINTER_TRY_ASSIGN(NodeRef least, number(-counted.low[i]));
  SINTER_TRY_ASSIGN(start, maximum(start, least));
  return sub(end, start);
}

Result<NodeRef> decomposeAvgPool(std::span<const NodeRef> operands,
                                 std::span<const uint64_t> attrs) {
  AttrReader reader(attrs);
  Windows windows = Windows::read(reader);
  Counted counted;
  counted.low = reader.ints();
  counted.high = reader.ints();
  double divisor = reader.real();
  windows.layout = reader.choice<Layout>();
  const NodeRef &x = operands[0];
  DType compute = term::computeDType(x);
  SINTER_TRY_ASSIGN(NodeRef taken, takeWindowsInside(x, windows, Number(0)));
  SINTER_TRY_ASSIGN(taken, cast(taken, compute));
  SINTER_TRY_ASSIGN(NodeRef total,
                    sum(taken, insideAxes(windows), /*keepdims=*/false));
  NodeRef count;
  if (divisor == 0 && countsAll(windows, counted)) {
    divisor = 1;
    for (int64_t size : windows.sizes)
      divisor *= double(size);
  }
  if (divisor != 0) {
    SINTER_TRY_ASSIGN(
        count, full(total->dims(), Number(divisor), compute, x->device()));
  }
  for (size_t i = 0; i < windows.rank() && divisor == 0; ++i) {
    size_t axis = windows.firstAxis() + i;
    DimList shape(total->rank(), Dim(1));
    shape[axis] = total->dims()[axis];
    SINTER_TRY_ASSIGN(NodeRef along,
                      countAlong(windows, counted, i, x->dims()[axis], shape,
                                 compute, x->device()));
    SINTER_TRY_ASSIGN(along, broadcast(along, total->dims()));
    if (count) {
      SINTER_TRY_ASSIGN(along, mul(count, along));
    }
    count = std::move(along);
  }
  SINTER_TRY_ASSIGN(NodeRef result, div(total, count));
  return cast(result, x->dtype());
}

} // namespace sinter::graph
