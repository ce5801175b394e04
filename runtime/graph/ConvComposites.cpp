/// Convolutions in other ops. The windows are a view, so the matrix of patches
/// is never in memory: the contraction reads its elements from the image.
#include "runtime/graph/Composites.h"
#include "runtime/graph/Convolve.h"

namespace sinter::graph {

using term::DimList;
using term::IntList;

IntList orderOf(std::initializer_list<AxisRange> ranges) {
  IntList order;
  for (AxisRange range : ranges)
    for (size_t i = 0; i < range.count; ++i)
      order.push_back(int64_t(range.first + i));
  return order;
}

static std::span<const Dim> spaceOf(const NodeRef &x, const Windows &windows) {
  return x->dims().subspan(windows.firstAxis(), windows.rank());
}

static Dim taps(const Windows &windows) {
  Dim count(1);
  for (int64_t size : windows.sizes)
    count = count * Dim(size);
  return count;
}

//===- One contraction ----------------------------------------------------===//

/// taken[n, c, p.., k..] and weight[o, i, k..].
static Result<NodeRef> contractFirst(const Conv &conv, const NodeRef &taken,
                                     const NodeRef &weight) {
  size_t rank = conv.rank();
  Dim groups(conv.groups), out = weight->dims()[0], in = weight->dims()[1];
  Dim depth = in * taps(conv.windows), batch = taken->dims()[0];
  std::span<const Dim> space = taken->dims().subspan(2, rank);
  Dim positions = product(space), outPer = floorDiv(out, groups);
  SINTER_TRY_ASSIGN(
      NodeRef patches,
      transpose(taken, orderOf({{0, 2}, {2 + rank, rank}, {2, rank}})));
  DimList patchShape{batch, groups, depth, positions};
  DimList rowShape{Dim(1), groups, outPer, depth};
  DimList rowsShape{batch, groups, outPer, depth};
  if (conv.groups == 1) {
    patchShape = {batch, depth, positions};
    rowShape = {Dim(1), out, depth};
    rowsShape = {batch, out, depth};
  }
  SINTER_TRY_ASSIGN(patches, reshape(patches, patchShape));
  SINTER_TRY_ASSIGN(NodeRef rows, reshape(weight, rowShape));
  SINTER_TRY_ASSIGN(rows, broadcast(rows, rowsShape));
  SINTER_TRY_ASSIGN(NodeRef result, matmul(rows, patches));
  DimList shape{batch, out};
  shape.append(space);
  return reshape(result, shape);
}

/// Few channels, last: the last axis of space and the channels are one axis,
/// which the elements of a window's row are contiguous along.
static bool mergesChannels(const Conv &conv, const NodeRef &weight) {
  constexpr int64_t few = 16;
  Dim channels = weight->dims()[1];
  return !conv.windows.channelsFirst() && conv.groups == 1 &&
         conv.windows.dilations[conv.rank() - 1] == 1 &&
         channels.isConstant() && channels.value < few;
}

/// x[n, s.., c] and weight[o, c, k..].
static Result<NodeRef> contractMerged(const Conv &conv, const NodeRef &x,
                                      const NodeRef &weight) {
  size_t rank = conv.rank(), last = rank - 1;
  int64_t channels = weight->dims()[1].value;
  auto scaled = [&](std::span<const int64_t> list) {
    IntList result(list);
    result[last] *= channels;
    return result;
  };
  IntList sizes = scaled(conv.windows.sizes);
  IntList strides = scaled(conv.windows.strides);
  IntList low = scaled(conv.windows.low), high = scaled(conv.windows.high);
  Windows windows{
      sizes, strides, low, high, conv.windows.dilations, conv.windows.layout};
  DimList merged(x->dims().first(rank + 1));
  merged[rank] = merged[rank] * Dim(channels);
  SINTER_TRY_ASSIGN(NodeRef taken, reshape(x, merged));
  SINTER_TRY_ASSIGN(taken, takeWindows(taken, windows, Number(0)));
  DimList shape(taken->dims().first(rank + 1));
  Dim out = weight->dims()[0], depth = Dim(channels) * taps(conv.windows);
  SINTER_TRY_ASSIGN(taken, reshape(taken, DimList{product(shape), depth}));
  shape.push_back(out);
  SINTER_TRY_ASSIGN(NodeRef columns,
                    transpose(weight, orderOf({{2, rank}, {1, 1}, {0, 1}})));
  SINTER_TRY_ASSIGN(columns, reshape(columns, DimList{depth, out}));
  SINTER_TRY_ASSIGN(NodeRef result, matmul(taken, columns));
  return reshape(result, shape);
}

/// taken[n, p.., c, k..] and weight[o, i, k..].
static Result<NodeRef> contractLast(const Conv &conv, const NodeRef &taken,
                                    const NodeRef &weight) {
  size_t rank = conv.rank();
  Dim groups(conv.groups), out = weight->dims()[0], in = weight->dims()[1];
  Dim depth = in * taps(conv.windows), outPer = floorDiv(out, groups);
  DimList shape(taken->dims().first(rank + 1));
  Dim rows = product(shape);
  shape.push_back(out);
  if (conv.groups == 1) {
    SINTER_TRY_ASSIGN(
        NodeRef patches,
        transpose(taken,
                  orderOf({{0, 1 + rank}, {2 + rank, rank}, {1 + rank, 1}})));
    SINTER_TRY_ASSIGN(patches, reshape(patches, DimList{rows, depth}));
    SINTER_TRY_ASSIGN(NodeRef columns,
                      transpose(weight, orderOf({{2, rank}, {1, 1}, {0, 1}})));
    SINTER_TRY_ASSIGN(columns, reshape(columns, DimList{depth, out}));
    SINTER_TRY_ASSIGN(NodeRef result, matmul(patches, columns));
    return reshape(result, shape);
  }
  DimList split(taken->dims().first(rank + 1));
  split.push_back(groups);
  split.append(taken->dims().subspan(rank + 1));
  split[rank + 2] = in;
  SINTER_TRY_ASSIGN(NodeRef patches, reshape(taken, split));
  SINTER_TRY_ASSIGN(patches, transpose(patches, orderOf({{1 + rank, 1},
                                                         {0, 1 + rank},
                                                         {3 + rank, rank},
                                                         {2 + rank, 1}})));
  SINTER_TRY_ASSIGN(patches, reshape(patches, DimList{groups, rows, depth}));
  DimList columnSplit{groups, outPer};
  columnSplit.append(weight->dims().subspan(1));
  SINTER_TRY_ASSIGN(NodeRef columns, reshape(weight, columnSplit));
  SINTER_TRY_ASSIGN(
      columns,
      transpose(columns, orderOf({{0, 1}, {3, rank}, {2, 1}, {1, 1}})));
  SINTER_TRY_ASSIGN(columns, reshape(columns, DimList{groups, depth, outPer}));
  SINTER_TRY_ASSIGN(NodeRef result, matmul(patches, columns));
  SINTER_TRY_ASSIGN(result,
                    transpose(result, orderOf({{1, 1}, {0, 1}, {2, 1}})));
  return reshape(result, shape);
}

//===- Products and a sum -------------------------------------------------===//

/// The windows' axes last but for the innermost one, as takeWindowsInside has
/// them, with an axis of the outputs of one channel after the channels.
static Result<NodeRef> sumDepthwise(const Conv &conv, const NodeRef &x,
                                    const NodeRef &weight) {
  const Windows &windows = conv.windows;
  size_t rank = conv.rank();
  SINTER_TRY_ASSIGN(NodeRef taken, takeWindowsInside(x, windows, Number(0)));
  bool first = windows.channelsFirst();
  Dim channels(conv.groups), out = weight->dims()[0];
  Dim per = floorDiv(out, channels);
  DType compute = term::computeDType(x);
  SINTER_TRY_ASSIGN(taken, cast(taken, compute));
  SINTER_TRY_ASSIGN(NodeRef factors, cast(weight, compute));
  // With several outputs for a channel, c becomes c, 1 in [n, c, k.., p..] and
  // in [n, p.., k.., c].
  bool splits = !(per.isConstant() && per.value == 1);
  std::span<const Dim> dims = taken->dims();
  size_t channelAxis = first ? 1 : 2 * rank + 1;
  DimList full(dims.first(channelAxis + 1));
  if (splits)
    full.push_back(Dim(1));
  full.append(dims.subspan(channelAxis + 1));
  SINTER_TRY_ASSIGN(taken, reshape(taken, full));
  DimList factorShape(full.size(), Dim(1));
  factorShape[channelAxis] = channels;
  if (splits)
    factorShape[channelAxis + 1] = full[channelAxis + 1] = per;
  SINTER_TRY_ASSIGN(taken, broadcast(taken, full));
  IntList sums = insideAxes(windows);
  for (size_t i = 0; i < rank; ++i) {
    sums[i] += int64_t(first && splits); // after the new axis
    factorShape[sums[i]] = Dim(windows.sizes[i]);
  }
  if (!first) {
    SINTER_TRY_ASSIGN(factors,
                      transpose(factors, orderOf({{2, rank}, {0, 2}})));
  }
  SINTER_TRY_ASSIGN(factors, reshape(factors, factorShape));
  SINTER_TRY_ASSIGN(factors, broadcast(factors, full));
  SINTER_TRY_ASSIGN(NodeRef products, mul(taken, factors));
  SINTER_TRY_ASSIGN(NodeRef result, sum(products, sums, /*keepdims=*/false));
  DimList shape(result->dims().first(first ? 1 : rank + 1));
  shape.push_back(out);
  if (first)
    shape.append(result->dims().last(rank));
  SINTER_TRY_ASSIGN(result, reshape(result, shape));
  return cast(result, x->dtype());
}

Result<NodeRef> convolve(const Conv &conv, const NodeRef &x,
                         const NodeRef &weight) {
  if (conv.isDepthwise(weight))
    return sumDepthwise(conv, x, weight);
  if (mergesChannels(conv, weight))
    return contractMerged(conv, x, weight);
  SINTER_TRY_ASSIGN(NodeRef taken, takeWindows(x, conv.windows, Number(0)));
  return conv.windows.channelsFirst() ? contractFirst(conv, taken, weight)
                                      : contractLast(conv, taken, weight);
}

Result<NodeRef> decomposeConv(std::span<const NodeRef> operands,
                              std::span<const uint64_t> attrs) {
  AttrReader reader(attrs);
  Conv conv{Windows::read(reader), reader.integer()};
  conv.windows.layout = reader.choice<Layout>();
  return convolve(conv, operands[0], operands[1]);
}

//===- The weight's gradient ----------------------------------------------===//

/// Products summed over batch and positions: [c, 1, k..] or, with several
/// outputs for a channel, [o, 1, k..].
static Result<NodeRef> weightDepthwise(const Conv &conv, const NodeRef &taken,
                                       const NodeRef &grad) {
  size_t rank = conv.rank();
  const Windows &windows = conv.windows;
  Dim channels(conv.groups), out = grad->dims()[windows.channelAxis()];
  Dim per = floorDiv(out, channels);
  DType compute = term::computeDType(grad);
  SINTER_TRY_ASSIGN(NodeRef left, cast(taken, compute));
  SINTER_TRY_ASSIGN(NodeRef right, cast(grad, compute));
  // [n, c, m, p.., k..] or [n, p.., c, m, k..]
  size_t channelAxis = windows.channelAxis();
  auto split = [&](const NodeRef &x, Dim second) {
    DimList shape(x->dims().first(channelAxis));
    shape.push_back(channels);
    shape.push_back(second);
    shape.append(x->dims().subspan(channelAxis + 1));
    return shape;
  };
  DimList full = split(left, per), rightShape = split(right, per);
  rightShape.resize(full.size(), Dim(1));
  SINTER_TRY_ASSIGN(left, reshape(left, split(left, Dim(1))));
  SINTER_TRY_ASSIGN(left, broadcast(left, full));
  SINTER_TRY_ASSIGN(right, reshape(right, rightShape));
  SINTER_TRY_ASSIGN(right, broadcast(right, full));
  SINTER_TRY_ASSIGN(NodeRef products, mul(left, right));
  IntList axes{0};
  for (size_t i = 0; i < rank; ++i)
    axes.push_back(int64_t((windows.channelsFirst() ? 3 : 1) + i));
  SINTER_TRY_ASSIGN(NodeRef result, sum(products, axes, /*keepdims=*/false));
  DimList shape{out, Dim(1)};
  for (int64_t size : windows.sizes)
    shape.push_back(Dim(size));
  SINTER_TRY_ASSIGN(result, reshape(result, shape));
  return cast(result, grad->dtype());
}

/// [groups, rows / groups, columns], as a contraction wants it: without the
/// first axis for one group.
static DimList matrixShape(Dim groups, Dim rows, Dim columns) {
  if (groups.isConstant() && groups.value == 1)
    return {rows, columns};
  return {groups, rows, columns};
}

/// [n, c, p..] or [n, p.., c] as [groups, c / groups, n * p].
static Result<NodeRef> channelRows(const Conv &conv, const NodeRef &x) {
  size_t rank = conv.rank();
  bool first = conv.windows.channelsFirst();
  Dim groups(conv.groups), channels = x->dims()[conv.windows.channelAxis()];
  Dim columns = x->dims()[0] * product(spaceOf(x, conv.windows));
  SINTER_TRY_ASSIGN(
      NodeRef rows,
      transpose(x, first ? orderOf({{1, 1}, {0, 1}, {2, rank}})
                         : orderOf({{1 + rank, 1}, {0, 1 + rank}})));
  return reshape(rows,
                 matrixShape(groups, floorDiv(channels, groups), columns));
}

/// taken[n, c, p.., k..] or [n, p.., c, k..] as [groups, n * p, c * k]; with
/// the taps before the channels where these are last.
static Result<NodeRef> windowColumns(const Conv &conv, const NodeRef &taken) {
  size_t rank = conv.rank();
  bool first = conv.windows.channelsFirst();
  size_t channelAxis = conv.windows.channelAxis();
  std::span<const Dim> dims = taken->dims();
  Dim groups(conv.groups), per = floorDiv(dims[channelAxis], groups);
  DimList split(dims.first(channelAxis));
  split.push_back(groups);
  split.push_back(per);
  split.append(dims.subspan(channelAxis + 1));
  SINTER_TRY_ASSIGN(NodeRef columns, reshape(taken, split));
  SINTER_TRY_ASSIGN(
      columns,
      transpose(
          columns,
          first ? orderOf({{1, 1}, {0, 1}, {3, rank}, {2, 1}, {3 + rank, rank}})
                : orderOf({{1 + rank, 1},
                           {0, 1 + rank},
                           {3 + rank, rank},
                           {2 + rank, 1}})));
  Dim rows = dims[0] * product(dims.subspan(conv.windows.firstAxis(), rank));
  return reshape(columns, matrixShape(groups, rows, per * taps(conv.windows)));
}

Result<NodeRef> decomposeConvWeight(std::span<const NodeRef> operands,
                                    std::span<const uint64_t> attrs) {
  AttrReader reader(attrs);
  Conv conv{Windows::read(reader), reader.integer()};
  const Windows &windows = conv.windows;
  conv.windows.layout = reader.choice<Layout>();
  const NodeRef &grad = operands[1];
  size_t rank = conv.rank();
  SINTER_TRY_ASSIGN(NodeRef taken,
                    takeWindows(operands[0], windows, Number(0)));
  // Positions that the gradient does not have.
  DimList kept(taken->dims());
  for (size_t i = 0; i < rank; ++i)
    kept[windows.firstAxis() + i] = grad->dims()[windows.firstAxis() + i];
  SINTER_TRY_ASSIGN(taken, takeFirst(taken, kept));
  Dim channels = taken->dims()[windows.channelAxis()];
  if (conv.groups > 1 && channels.isConstant() && channels.value == conv.groups)
    return weightDepthwise(conv, taken, grad);
  SINTER_TRY_ASSIGN(NodeRef rows, channelRows(conv, grad));
  SINTER_TRY_ASSIGN(NodeRef columns, windowColumns(conv, taken));
  SINTER_TRY_ASSIGN(NodeRef result, matmul(rows, columns));
  Dim out = grad->dims()[windows.channelAxis()];
  Dim per = floorDiv(channels, Dim(conv.groups));
  DimList shape{out};
  if (windows.channelsFirst())
    shape.push_back(per);
  for (int64_t size : windows.sizes)
    shape.push_back(Dim(size));
  if (windows.channelsFirst())
    return reshape(result, shape);
  shape.push_back(per);
  SINTER_TRY_ASSIGN(result, reshape(result, shape));
  return transpose(result, orderOf({{0, 1}, {1 + rank, 1}, {1, rank}}));
}

} // namespace sinter::graph
