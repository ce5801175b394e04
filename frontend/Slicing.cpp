/// Parts of tensors, and what is put in their place: from starts that are
/// constants of programs, or numbers that programs are given.
#include <sinter/Shaping.h>

#include "frontend/FixedDims.h"
#include "frontend/Leaves.h"
#include "frontend/Lines.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "frontend/SiteMemory.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::Composed;
using detail::lineAxis;
using graph::NodeRef;

namespace {
/// Where a part begins along an axis.
struct Start {
  int64_t fixed = 0;
  NodeRef number; ///< a number of rank 0 that programs are given; null: `fixed`
};

/// A part of a tensor: along axis d, every steps[d]-th of spans[d] elements.
struct Part {
  std::vector<Start> starts;
  Dims spans;
  std::vector<int64_t> steps;

  /// All of x.
  explicit Part(const Tensor &x)
      : starts(x.rank()), spans(x.shape()), steps(x.rank(), 1) {}

  Dims shape() const {
    Dims dims;
    for (size_t i = 0; i < spans.size(); ++i)
      dims.push_back(ceilDiv(spans[i], Dim(steps[i])));
    return dims;
  }
};

/// The axes of a call whose starts programs are given, by its line's memory.
/// Inside of other functions lines are the library's, which say nothing.
detail::AxisSet varyingAt(const Composed &call, const SourceLine &line,
                          std::span<const int64_t> starts,
                          std::span<const int64_t> sizes) {
  return call.isOutermost() ? detail::varyingStarts(line, starts, sizes) : 0;
}
} // namespace

//===- Ops ----------------------------------------------------------------===//

static Tensor dynamicSlice(const Tensor &x, const NodeRef &start, int64_t axis,
                           Dim size, const SourceLine &line) {
  detail::Recorder recorder(graph::OpId::dynamic_slice, line);
  return recorder.result(graph::dynamic_slice(x.node(), start, axis, size));
}

static Tensor dynamicPad(const Tensor &x, const NodeRef &start, int64_t axis,
                         Dim size, const SourceLine &line) {
  detail::Recorder recorder(graph::OpId::dynamic_pad, line);
  return recorder.result(graph::dynamic_pad(x.node(), start, axis, size));
}

static Tensor staticSlice(const Tensor &x, std::span<const int64_t> starts,
                          const Dims &limits, std::span<const int64_t> steps,
                          const SourceLine &line) {
  detail::Recorder recorder(graph::OpId::slice, line);
  return recorder.result(graph::slice(x.node(), starts, limits, steps));
}

/// The part's elements.
static Tensor taken(const Tensor &whole, const Part &part,
                    const SourceLine &line) {
  Tensor x = whole;
  std::vector<int64_t> starts(x.rank(), 0);
  Dims limits = x.shape();
  bool isMoved = false, isCut = false;
  for (size_t i = 0; i < starts.size(); ++i) {
    const Start &start = part.starts[i];
    isCut |= part.steps[i] != 1;
    if (start.number) {
      x = dynamicSlice(x, start.number, int64_t(i), part.spans[i], line);
      limits[i] = part.spans[i];
      isMoved = true;
      continue;
    }
    Dim limit = Dim(start.fixed) + part.spans[i];
    isCut |= start.fixed != 0 || limit.value != limits[i].value ||
             limit.expr != limits[i].expr;
    starts[i] = start.fixed;
    limits[i] = limit;
  }
  if (isMoved && !isCut)
    return x;
  return staticSlice(x, starts, limits, part.steps, line);
}

/// Elements in the part's places of a tensor of shape `whole`; 0 elsewhere.
static Tensor placed(const Tensor &elements, const Part &part,
                     const Dims &whole, const SourceLine &line) {
  std::vector<int64_t> low, interior;
  Dims shape = whole;
  for (size_t i = 0; i < whole.size(); ++i) {
    const Start &start = part.starts[i];
    low.push_back(start.fixed);
    interior.push_back(part.steps[i] - 1);
    if (start.number)
      shape[i] = part.spans[i];
  }
  Tensor result = pad(elements, low, shape, interior, 0);
  for (size_t i = 0; i < whole.size(); ++i)
    if (part.starts[i].number)
      result =
          dynamicPad(result, part.starts[i].number, int64_t(i), whole[i], line);
  return result;
}

/// x with values in the part's place.
static Tensor assigned(const Composed &call, const Arg &values,
                       const Part &part, const SourceLine &line) {
  const Tensor &x = call.x;
  Dims shape = part.shape(), whole = x.shape();
  Tensor given = broadcast(call.element(values), shape);
  Tensor all = ones(shape, {DType::boolean, x.device()});
  return where(placed(all, part, whole, line), placed(given, part, whole, line),
               x);
}

//===- Starts -------------------------------------------------------------===//

/// A start that is known now, and what programs take it as.
static Start knownStart(Dim at, bool varies, const Tensor &x,
                        const SourceLine &line) {
  if (!at.isConstant())
    return {0, detail::sizeScalar(at, x.device(), line).node()};
  if (!varies)
    return {at.value, {}};
  return {0, detail::scalarNode(DType::i64, Number(at.value), x.device())};
}

/// A start that a tensor holds, taken from 0, 1, 2, ..., which is what it is,
/// so that one out of range is an error.
static Start givenStart(const Composed &call, const Arg &start, Dim places) {
  Tensor given = detail::asTensor(start);
  if (isFloat(given.dtype()) || given.dtype() == DType::boolean ||
      given.numel() != 1)
    call.fail(fmt::format("a start is an integer of one element, not {}",
                          graph::typeString(*given.node())));
  Tensor position = reshape(given, {1}).to(DType::i64);
  Tensor all = arange(places, {DType::i64, given.device()});
  return {0, reshape(gather(all, position, 0), Dims()).node()};
}

static int64_t plainStart(const Composed &call, const Arg &start) {
  if (start.kind != ArgKind::integer)
    call.fail("a start must be an integer");
  return start.number.integer;
}

/// The place of `count` elements along an axis of x, from a plain number on;
/// throws where there are not so many.
static Dim placeOf(const Composed &call, int64_t start, int64_t axis,
                   Dim count) {
  Dim length = call.x.dim(axis);
  Dim at = start < 0 ? length + Dim(start) : Dim(start);
  if (at.value < 0 || count.value < 0 || at.value + count.value > length.value)
    call.fail(fmt::format("{} elements from {} on are not in axis {}",
                          count.value, start, axis));
  return at;
}

/// The part of sizes[i] elements along axes[i] from starts[i] on.
static Part partFrom(const Composed &call, std::span<const int64_t> axes,
                     std::span<const Arg *const> starts,
                     std::span<const Dim> sizes, const SourceLine &line) {
  Part part(call.x);
  std::vector<int64_t> shown, counts;
  Dims places;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Arg &start = *starts[i];
    Dim length = call.x.dim(axes[i]);
    if (start.isTensor() &&
        (sizes[i].value < 0 || sizes[i].value > length.value))
      call.fail(fmt::format("{} elements are not in axis {}", sizes[i].value,
                            axes[i]));
    places.push_back(start.isTensor() ? Dim(0)
                                      : placeOf(call, plainStart(call, start),
                                                axes[i], sizes[i]));
    shown.push_back(places[i].isConstant() ? places[i].value : 0);
    counts.push_back(sizes[i].value);
  }
  detail::AxisSet varied = varyingAt(call, line, shown, counts);
  for (size_t i = 0; i < axes.size(); ++i) {
    const Arg &start = *starts[i];
    part.spans[axes[i]] = sizes[i];
    part.starts[axes[i]] =
        start.isTensor()
            ? givenStart(call, start, call.x.dim(axes[i]) - sizes[i] + Dim(1))
            : knownStart(places[i], start.dynamic || (varied >> i & 1), call.x,
                         line);
  }
  return part;
}

static Part partFrom(const Composed &call, const std::vector<Arg> &starts,
                     const Dims &sizes, const SourceLine &line) {
  if (starts.size() != size_t(call.x.rank()) || sizes.size() != starts.size())
    call.fail("there must be a start and a size for each axis");
  std::vector<int64_t> axes;
  std::vector<const Arg *> list;
  for (const Arg &start : starts) {
    axes.push_back(int64_t(axes.size()));
    list.push_back(&start);
  }
  return partFrom(call, axes, list, sizes, line);
}

/// The part from starts up to limits. Where those do not fit x, the recorded
/// slice says so.
static Part partBetween(const Composed &call, const Axes &starts,
                        const Dims &limits, const Axes &steps,
                        const SourceLine &line) {
  size_t rank = call.x.rank();
  Part part(call.x);
  bool fits =
      starts.size() == rank && limits.size() == rank && steps.size() == rank;
  Dims places, ends;
  std::vector<int64_t> shown, sizes;
  for (size_t i = 0; fits && i < rank; ++i) {
    Dim length = part.spans[i];
    int64_t start = starts.begin()[i], step = steps.begin()[i];
    places.push_back(start < 0 ? length + Dim(start) : Dim(start));
    ends.push_back(limits[i].value < 0 ? length + limits[i] : limits[i]);
    fits = step > 0 && places[i].value >= 0 &&
           places[i].value <= ends[i].value && ends[i].value <= length.value;
    part.spans[i] = ends[i] - places[i];
    part.steps[i] = step;
    shown.push_back(places[i].isConstant() ? places[i].value : 0);
    sizes.push_back(part.spans[i].value);
  }
  if (!fits)
    staticSlice(call.x, starts, limits, steps, line);
  detail::AxisSet varied = varyingAt(call, line, shown, sizes);
  for (size_t i = 0; i < rank; ++i)
    part.starts[i] = knownStart(places[i], varied >> i & 1, call.x, line);
  return part;
}

//===- Functions ----------------------------------------------------------===//

Tensor slice(const Arg &x, const Axes &starts, const Dims &limits,
             const Axes &steps) try {
  Composed call("slice", x);
  return taken(call.x, partBetween(call, starts, limits, steps, x.where),
               x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor slice(const Arg &x, const std::vector<Arg> &starts,
             const Dims &sizes) try {
  Composed call("slice", x);
  return taken(call.x, partFrom(call, starts, sizes, x.where), x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor narrow(const Arg &x, int64_t axis, const Arg &start, Dim length) try {
  Composed call("narrow", x);
  int64_t at = call.axis(axis);
  const Arg *starts[] = {&start};
  return taken(call.x, partFrom(call, {&at, 1}, starts, {&length, 1}, x.where),
               x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor select(const Arg &x, int64_t axis, const Arg &index) try {
  Composed call("select", x);
  int64_t at = call.axis(axis);
  if (!index.isTensor())
    call.position(plainStart(call, index), at); // throws under its own name
  const Arg *starts[] = {&index};
  Dim one(1);
  return squeeze(taken(call.x,
                       partFrom(call, {&at, 1}, starts, {&one, 1}, x.where),
                       x.where),
                 {at});
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor slice_assign(const Arg &x, const Arg &values, const Axes &starts,
                    const Dims &limits, const Axes &steps) try {
  Composed call("slice_assign", x);
  return assigned(call, values,
                  partBetween(call, starts, limits, steps, x.where), x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor slice_assign(const Arg &x, const Arg &values,
                    const std::vector<Arg> &starts) try {
  Composed call("slice_assign", x);
  Tensor given = detail::asTensor(values);
  if (given.rank() != call.x.rank())
    call.fail("the values must have as many axes as the tensor");
  return assigned(call, values, partFrom(call, starts, given.shape(), x.where),
                  x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// x moved along an axis, so that what stood at `cut` comes first.
static Tensor turned(const Tensor &x, int64_t axis, Dim cut, bool varies,
                     const SourceLine &line) {
  Dim length = x.dim(axis);
  if (varies)
    return dynamicSlice(concat({x, x}, axis),
                        knownStart(cut, true, x, line).number, axis, length,
                        line);
  if (cut.value == 0)
    return x;
  Part first(x), second(x);
  first.starts[axis] = knownStart(cut, false, x, line);
  first.spans[axis] = length - cut;
  second.spans[axis] = cut;
  return concat({taken(x, first, line), taken(x, second, line)}, axis);
}

Tensor detail::withKnownLength(const Tensor &x, int64_t axis, size_t count) {
  axis += axis < 0 ? x.rank() : 0;
  const graph::NodeRef &node = detail::usedForm(x.node());
  if (std::ranges::all_of(node->dims().subspan(size_t(axis), count),
                          &Dim::isConstant))
    return x;
  detail::Recorder recorder(graph::OpId::reshape, SourceLine::current());
  return recorder.result(detail::withNumbers(node, size_t(axis), count));
}

Tensor roll(const Arg &x, const Axes &shifts, const Axes &axes) try {
  Composed call("roll", x);
  if (call.x.rank() == 0) {
    for (int64_t axis : axes)
      lineAxis(call, axis);
    return call.x;
  }
  std::vector<int64_t> at = call.axes(axes), moved, lengths;
  if (shifts.isAll() || at.size() != shifts.size())
    call.fail("there must be a shift for each axis");
  Tensor rolled = call.x;
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t shift = shifts.begin()[i];
    lengths.push_back(call.x.dim(at[i]).value);
    moved.push_back(shift % std::max<int64_t>(lengths[i], 1));
    // Where it goes around is another place for another length.
    if (moved[i] != shift || lengths[i] == 0)
      rolled = detail::withKnownLength(rolled, at[i]);
  }
  detail::AxisSet varied = varyingAt(call, x.where, moved, lengths);
  for (size_t i = 0; i < at.size(); ++i) {
    if (lengths[i] == 0)
      continue;
    Dim cut = moved[i] > 0 ? rolled.dim(at[i]) - Dim(moved[i]) : Dim(-moved[i]);
    rolled = turned(rolled, at[i], cut, varied >> i & 1, x.where);
  }
  return rolled;
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
