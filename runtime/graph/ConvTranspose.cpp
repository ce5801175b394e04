/// The transposed convolution, as a convolution by the reversed weight.
///
/// Along an axis of stride s, result i + s reads, by the same taps, what result
/// i reads, one element of x further; those taps are every s-th of the weight.
/// So s results that follow each other are made together: as channels of one
/// convolution over x, with as many more results and as many fewer taps. That
/// takes no zeros between the elements of x, which all taps else would meet.
#include "runtime/graph/Composites.h"
#include "runtime/graph/Convolve.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace sinter::graph {

using term::DimList;
using term::IntList;

namespace {

/// How the results along an axis of the space are made.
struct TransposedAxis {
  /// Results but every `gap`-th from `first` on are zero: no tap meets an
  /// element there. `count` are made.
  int64_t gap = 1, first = 0;
  Dim count;
  int64_t phases = 1; ///< results that are made together
  int64_t cut = 0;    ///< of them, that stand before the first
  int64_t spread = 1; ///< from an element of x to the next
  int64_t taps = 1, dilation = 1;
  int64_t tapsBefore = 0; ///< zeros before the weight's
  int64_t last = 0;       ///< where in x, spread, the first window ends
  int64_t after = 0;      ///< places of it that no window reaches

  int64_t border() const { return (taps - 1) * dilation; }
  Dim positions() const {
    return phases == 1 ? count : ceilDiv(count + Dim(cut), Dim(phases));
  }
  /// Places of x, spread, that lie under windows.
  Dim places() const { return positions() + Dim(border()); }
};

/// A transposed convolution being written out.
struct Transposed {
  const Conv &conv;
  std::span<const Dim> space;
  std::vector<TransposedAxis> axes;

  size_t rank() const { return axes.size(); }
  size_t axisOf(size_t i) const { return conv.windows.firstAxis() + i; }
  int64_t phases() const {
    int64_t all = 1;
    for (const TransposedAxis &axis : axes)
      all *= axis.phases;
    return all;
  }
};

} // namespace

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

//===- What is made of each axis ------------------------------------------===//

/// Zeros stand between the elements of x, and windows at each result.
static TransposedAxis spreadAxis(const Windows &windows, size_t i, Dim space) {
  TransposedAxis axis;
  axis.count = space;
  axis.spread = windows.strides[i];
  axis.taps = windows.sizes[i];
  axis.dilation = windows.dilations[i];
  axis.last = windows.low[i];
  axis.after = std::max<int64_t>(windows.high[i] - axis.border(), 0);
  return axis;
}

/// Taps of the weight as multiples of `stride`, which many results share. Zeros
/// before them make results begin with the first, where that takes no more of
/// them; else some results are cut off.
static void takePhases(TransposedAxis &axis, int64_t size, int64_t stride) {
  int64_t begin = axis.last % stride, taps = divideUp(size, stride);
  axis.last /= stride;
  axis.phases = stride;
  axis.spread = 1;
  axis.taps = taps;
  if (begin == 0)
    return;
  if (1 + divideUp(std::max<int64_t>(size - begin, 0), stride) > taps) {
    axis.cut = begin;
    return;
  }
  axis.tapsBefore = stride - begin;
  ++axis.last;
}

static TransposedAxis planAxis(const Windows &windows, size_t i, Dim elements,
                               Dim space, bool mayTakePhases) {
  TransposedAxis axis = spreadAxis(windows, i, space);
  bool isKnown =
      space.isConstant() && elements.isConstant() && elements.value > 0;
  if (windows.strides[i] == 1 || !isKnown)
    return axis;
  // Taps lie at multiples of the gap; a single one at any.
  int64_t size = windows.sizes[i];
  int64_t gap = size == 1 ? windows.strides[i]
                          : std::gcd(windows.strides[i], windows.dilations[i]);
  int64_t last = divideUp(windows.low[i], gap);
  int64_t first = last * gap - windows.low[i];
  if (first >= space.value)
    return axis;
  axis.gap = gap;
  axis.first = first;
  axis.count = Dim(divideUp(space.value - first, gap));
  axis.last = last;
  axis.spread = windows.strides[i] / gap;
  axis.dilation = size == 1 ? 1 : windows.dilations[i] / gap;
  if (mayTakePhases && axis.spread > 1 && axis.dilation == 1)
    takePhases(axis, size, axis.spread);
  int64_t end = (elements.value - 1) * axis.spread + 1;
  int64_t reached = axis.places().value + axis.last - axis.border();
  axis.after = std::max<int64_t>(end - reached, 0);
  return axis;
}

//===- Operands -----------------------------------------------------------===//

/// weight[m, n, k..] as [groups * phases * n, m / groups, taps..], reversed.
static Result<NodeRef> phaseWeight(const Transposed &plan,
                                   const NodeRef &weight) {
  Dim groups(plan.conv.groups), in = weight->dims()[0], n = weight->dims()[1];
  Dim inPer = floorDiv(in, groups);
  IntList low(weight->rank(), 0), interior(weight->rank(), 0);
  DimList padded{in, n}, split{groups, inPer, n};
  DimList shape{groups * Dim(plan.phases()) * n, inPer};
  IntList taps, order{0};
  for (size_t i = 0; i < plan.rank(); ++i) {
    const TransposedAxis &axis = plan.axes[i];
    low[2 + i] = axis.tapsBefore;
    bool hasPhases = axis.phases > 1;
    padded.push_back(hasPhases ? Dim(axis.taps * axis.phases)
                               : weight->dims()[2 + i]);
    taps.push_back(int64_t(split.size()));
    split.push_back(Dim(axis.taps));
    shape.push_back(Dim(axis.taps));
    if (hasPhases) {
      order.push_back(int64_t(split.size()));
      split.push_back(Dim(axis.phases));
    }
  }
  order.push_back(2);
  order.push_back(1);
  order.append(taps);
  NodeRef result = weight;
  if (!identicalDims(padded, weight->dims())) {
    SINTER_TRY_ASSIGN(result, pad(weight, low, padded, interior, Number(0)));
  }
  SINTER_TRY_ASSIGN(result, reshape(result, split));
  SINTER_TRY_ASSIGN(result, flip(result, taps));
  SINTER_TRY_ASSIGN(result, transpose(result, order));
  return reshape(result, shape);
}

/// x with what windows meet besides: zeros between its elements, and around.
static Result<NodeRef> spreadImage(const Transposed &plan, const NodeRef &x) {
  IntList low(x->rank(), 0), interior(x->rank(), 0), cut(x->rank(), 0);
  DimList padded(x->dims()), shape(x->dims());
  for (size_t i = 0; i < plan.rank(); ++i) {
    const TransposedAxis &axis = plan.axes[i];
    size_t dim = plan.axisOf(i);
    low[dim] = std::max<int64_t>(axis.border() - axis.last, 0);
    cut[dim] = std::max<int64_t>(axis.last - axis.border(), 0);
    interior[dim] = axis.spread - 1;
    shape[dim] = axis.places();
    padded[dim] = shape[dim] + Dim(cut[dim] + axis.after);
  }
  SINTER_TRY_ASSIGN(NodeRef result, pad(x, low, padded, interior, Number(0)));
  return takeFrom(result, cut, shape);
}

//===- Results ------------------------------------------------------------===//

/// Those that were made together follow each other in space again.
static Result<NodeRef> interleave(const Transposed &plan,
                                  const NodeRef &result) {
  bool first = plan.conv.windows.channelsFirst();
  size_t channelAxis = plan.conv.windows.channelAxis();
  Dim groups(plan.conv.groups), channels = result->dims()[channelAxis];
  Dim perPhase = floorDiv(channels, Dim(plan.phases()));
  DimList inner{groups}, split, shape{result->dims()[0]};
  for (const TransposedAxis &axis : plan.axes)
    if (axis.phases > 1)
      inner.push_back(Dim(axis.phases));
  inner.push_back(floorDiv(perPhase, groups));
  for (size_t dim = 0; dim < result->rank(); ++dim)
    if (dim == channelAxis)
      split.append(inner);
    else
      split.push_back(result->dims()[dim]);
  // [n, groups, phases.., c, p..] or [n, p.., groups, phases.., c]
  IntList space;
  DimList wide;
  size_t position = first ? 1 + inner.size() : 1, phase = channelAxis + 1;
  for (const TransposedAxis &axis : plan.axes) {
    space.push_back(int64_t(position++));
    if (axis.phases > 1)
      space.push_back(int64_t(phase++));
    wide.push_back(axis.positions() * Dim(axis.phases));
  }
  IntList order{0},
      own{int64_t(channelAxis), int64_t(channelAxis + inner.size() - 1)};
  order.append(first ? own : space);
  order.append(first ? space : own);
  if (first)
    shape.push_back(perPhase);
  shape.append(wide);
  if (!first)
    shape.push_back(perPhase);
  SINTER_TRY_ASSIGN(NodeRef apart, reshape(result, split));
  SINTER_TRY_ASSIGN(apart, transpose(apart, order));
  return reshape(apart, shape);
}

/// The results that there are, zeros between them.
static Result<NodeRef> fitSpace(const Transposed &plan, const NodeRef &result) {
  IntList cut(result->rank(), 0), low(cut), interior(cut);
  DimList made(result->dims()), shape(result->dims());
  for (size_t i = 0; i < plan.rank(); ++i) {
    const TransposedAxis &axis = plan.axes[i];
    size_t dim = plan.axisOf(i);
    if (axis.phases > 1) {
      cut[dim] = axis.cut;
      made[dim] = shape[dim] = axis.count;
    }
    if (axis.gap > 1) {
      low[dim] = axis.first;
      interior[dim] = axis.gap - 1;
      shape[dim] = plan.space[i];
    }
  }
  SINTER_TRY_ASSIGN(NodeRef fitted, takeFrom(result, cut, made));
  if (identicalDims(made, shape))
    return fitted;
  return pad(fitted, low, shape, interior, Number(0));
}

Result<NodeRef> decomposeConvTranspose(std::span<const NodeRef> operands,
                                       std::span<const uint64_t> attrs) {
  AttrReader reader(attrs);
  Conv conv{Windows::read(reader), reader.integer()};
  DimList space = reader.dims();
  conv.windows.layout = reader.choice<Layout>();
  const NodeRef &x = operands[0], &weight = operands[1];
  // A channel by itself has few products, and its results are in order.
  Dim channels = weight->dims()[0];
  bool isDepthwise =
      conv.groups > 1 && channels.isConstant() && channels.value == conv.groups;
  Transposed plan{conv, space, {}};
  for (size_t i = 0; i < conv.rank(); ++i)
    plan.axes.push_back(planAxis(conv.windows, i, x->dims()[plan.axisOf(i)],
                                 space[i],
                                 /*mayTakePhases=*/!isDepthwise));
  SINTER_TRY_ASSIGN(NodeRef image, spreadImage(plan, x));
  SINTER_TRY_ASSIGN(NodeRef taps, phaseWeight(plan, weight));
  IntList sizes, dilations, zeros(conv.rank(), 0), ones(conv.rank(), 1);
  for (const TransposedAxis &axis : plan.axes) {
    sizes.push_back(axis.taps);
    dilations.push_back(axis.dilation);
  }
  Conv inner{{sizes, ones, zeros, zeros, dilations, conv.windows.layout},
             conv.groups};
  SINTER_TRY_ASSIGN(NodeRef result, convolve(inner, image, taps));
  if (plan.phases() > 1) {
    SINTER_TRY_ASSIGN(result, interleave(plan, result));
  }
  return fitSpace(plan, result);
}

} // namespace sinter::graph
