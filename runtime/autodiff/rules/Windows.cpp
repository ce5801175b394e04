/// The gradients of unwindow and max_pool.
#include "runtime/autodiff/rules/Rules.h"

#include "runtime/graph/Windows.h"

#include <algorithm>
#include <limits>

namespace sinter::autodiff {

using graph::AttrReader;
using graph::NodeRef;
using graph::Windows;
using graph::term::DimList;
using graph::term::IntList;

// Element k of window i stands at [i * stride + k * dilation, k]. With that
// axis and its windows' axis made one, of size `size` for each place, this is a
// window too: of stride * size, and of dilation * size + 1.
Result<OperandGradients> unwindowGradient(const GradientContext &context) {
  AttrReader reader(context.attrs);
  size_t rank = reader.dims().size();
  std::span<const int64_t> axes = reader.ints(), sizes = reader.ints();
  std::span<const int64_t> strides = reader.ints(), dilations = reader.ints();
  IntList order, back(rank + axes.size(), 0);
  DimList merged;
  for (size_t i = 0; i < rank; ++i) {
    if (std::ranges::count(axes, int64_t(i)))
      continue;
    back[i] = int64_t(order.size());
    merged.push_back(context.grad->dims()[i]);
    order.push_back(int64_t(i));
  }
  IntList places, steps, gaps;
  for (size_t j = 0; j < axes.size(); ++j) {
    order.push_back(axes[j]);
    order.push_back(int64_t(rank + j));
    back[axes[j]] = int64_t(merged.size());
    back[rank + j] = int64_t(rank + j);
    places.push_back(int64_t(merged.size()));
    merged.push_back(context.grad->dims()[axes[j]] * Dim(sizes[j]));
    steps.push_back(strides[j] * sizes[j]);
    gaps.push_back(dilations[j] * sizes[j] + 1);
  }
  SINTER_TRY_ASSIGN(NodeRef result, graph::transpose(context.grad, order));
  SINTER_TRY_ASSIGN(result, graph::reshape(result, merged));
  SINTER_TRY_ASSIGN(result, graph::window(result, places, sizes, steps, gaps));
  SINTER_TRY_ASSIGN(result, graph::transpose(result, back));
  return OperandGradients{result};
}

/// One axis in place of the last `count`.
static DimList withFlatTail(const NodeRef &x, size_t count) {
  DimList shape(x->dims().first(x->rank() - count));
  shape.push_back(graph::product(x->dims().subspan(x->rank() - count)));
  return shape;
}

// Each window's gradient goes to its first largest element, from where the
// places of the image gather them.
Result<OperandGradients> maxPoolGradient(const GradientContext &context) {
  AttrReader reader(context.attrs);
  Windows windows = Windows::read(reader);
  windows.layout = reader.choice<Layout>();
  const NodeRef &x = context.operands[0];
  size_t rank = windows.rank();
  Number least(-std::numeric_limits<double>::infinity());
  SINTER_TRY_ASSIGN(NodeRef padded, graph::padSpace(x, windows, least));
  SINTER_TRY_ASSIGN(NodeRef taken,
                    graph::window(padded, windows.axes(), windows.sizes,
                                  windows.strides, windows.dilations));
  DimList flat = withFlatTail(taken, rank);
  auto last = int64_t(flat.size()) - 1;
  SINTER_TRY_ASSIGN(NodeRef windowRows, graph::reshape(taken, flat));
  SINTER_TRY_ASSIGN(NodeRef first,
                    graph::argmax(windowRows, last, /*keepdims=*/true));
  SINTER_TRY_ASSIGN(first, graph::broadcast(first, flat));
  SINTER_TRY_ASSIGN(NodeRef number,
                    graph::iota(flat, last, DType::i64, x->device()));
  SINTER_TRY_ASSIGN(NodeRef isFirst,
                    graph::compare(number, first, Comparison::eq));
  DimList column(context.grad->dims());
  column.push_back(Dim(1));
  SINTER_TRY_ASSIGN(NodeRef parts, graph::reshape(context.grad, column));
  SINTER_TRY_ASSIGN(parts, graph::broadcast(parts, flat));
  SINTER_TRY_ASSIGN(NodeRef zero,
                    graph::full(flat, Number(0), x->dtype(), x->device()));
  SINTER_TRY_ASSIGN(parts, graph::where(isFirst, parts, zero));
  SINTER_TRY_ASSIGN(parts, graph::reshape(parts, taken->dims()));
  SINTER_TRY_ASSIGN(parts, graph::unwindow(parts, padded->dims(),
                                           windows.axes(), windows.sizes,
                                           windows.strides, windows.dilations));
  IntList places(x->rank(), 0);
  for (size_t i = 0; i < rank; ++i)
    places[windows.firstAxis() + i] = windows.low[i];
  SINTER_TRY_ASSIGN(
      parts, graph::sum(parts, graph::term::windowAxes(x, windows.axes()),
                        /*keepdims=*/false));
  SINTER_TRY_ASSIGN(parts, graph::takeFrom(parts, places, x->dims()));
  return OperandGradients{parts};
}

} // namespace sinter::autodiff
