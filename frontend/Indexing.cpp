/// Gathers and scatters whose indices may be shorter than x along other axes,
/// and indexing of several axes.
#include <sinter/Functions.h>

#include "frontend/CountedRows.h"
#include "frontend/Lines.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::Composed;
using detail::lineAxis;
using graph::NodeRef;

//===- gather and scatter -------------------------------------------------===//

/// The part of x that the indices speak of: as long as they are along axes
/// other than `axis`. Null when that is all of x, or when shapes do not fit,
/// which the graph's op reports.
static Result<NodeRef> partOf(const NodeRef &x, const NodeRef &indices,
                              int64_t axis) {
  SmallVector<Dim, 6> limits(x->dims());
  SmallVector<int64_t, 8> starts(x->rank(), 0), steps(x->rank(), 1);
  if (axis < 0)
    axis += x->rank();
  bool isPart = false;
  if (x->rank() == indices->rank())
    for (size_t i = 0; i < limits.size(); ++i) {
      Dim own = indices->dims()[i];
      if (int64_t(i) == axis || own.value >= limits[i].value)
        continue;
      limits[i] = own;
      isPart = true;
    }
  if (!isPart)
    return NodeRef();
  return graph::slice(x, starts, limits, steps);
}

Tensor gather(const Arg &x, const Arg &indices, int64_t axis) try {
  detail::Recorder recorder(graph::OpId::gather, x);
  auto nodes =
      recorder.operands(detail::Promotion::none, 0b11, false, x, indices);
  auto sliced = partOf(nodes[0], nodes[1], axis);
  if (!sliced)
    recorder.fail(sliced.takeError());
  return recorder.result(
      graph::gather(*sliced ? *sliced : nodes[0], nodes[1], axis));
} catch (...) {
  detail::raiseExhausted(x.where);
}

namespace {
using ScatterBuilder = Result<NodeRef> (*)(const NodeRef &x,
                                           const NodeRef &indices,
                                           const NodeRef &updates,
                                           int64_t axis);
} // namespace

static Tensor scattered(graph::OpId op, ScatterBuilder build, const Arg &x,
                        const Arg &indices, const Arg &updates, int64_t axis) {
  detail::Recorder recorder(op, x);
  auto nodes = recorder.operands(detail::Promotion::match, 0b101, false, x,
                                 indices, updates);
  auto part = partOf(nodes[0], nodes[1], axis);
  if (!part)
    recorder.fail(part.takeError());
  if (!*part)
    return recorder.result(build(nodes[0], nodes[1], nodes[2], axis));
  Tensor whole(nodes[0]),
      changed = recorder.result(build(*part, nodes[1], nodes[2], axis));
  std::vector<int64_t> zeros(whole.rank(), 0), ones(whole.rank(), 1);
  return slice_assign(Arg(whole, x.where), changed, zeros, changed.shape(),
                      ones);
}

Tensor scatter(const Arg &x, const Arg &indices, const Arg &updates,
               int64_t axis) try {
  return scattered(graph::OpId::scatter, graph::scatter, x, indices, updates,
                   axis);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor scatter_add(const Arg &x, const Arg &indices, const Arg &updates,
                   int64_t axis) try {
  return scattered(graph::OpId::scatter_add, graph::scatter_add, x, indices,
                   updates, axis);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor scatter_prod(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) try {
  return scattered(graph::OpId::scatter_prod, graph::scatter_prod, x, indices,
                   updates, axis);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor scatter_amax(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) try {
  return scattered(graph::OpId::scatter_amax, graph::scatter_amax, x, indices,
                   updates, axis);
} catch (...) {
  detail::raiseExhausted(x.where);
}
Tensor scatter_amin(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) try {
  return scattered(graph::OpId::scatter_amin, graph::scatter_amin, x, indices,
                   updates, axis);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- scatter_reduce -----------------------------------------------------===//

static ErrorInfo unsupportedDType(const char *name, const Tensor &x) {
  return makeError(ErrorKind::unsupported,
                   fmt::format("{}: not for {}", name, sinter::name(x.dtype())),
                   name);
}

/// What changes no element that it is folded into.
static double identityOf(ScatterReduce reduce) {
  double infinity = std::numeric_limits<double>::infinity();
  switch (reduce) {
  case ScatterReduce::prod:
    return 1;
  case ScatterReduce::amax:
    return -infinity;
  case ScatterReduce::amin:
    return infinity;
  default:
    return 0;
  }
}

static Tensor folded(ScatterReduce reduce, const Tensor &x,
                     const Tensor &indices, const Tensor &updates,
                     int64_t axis) {
  switch (reduce) {
  case ScatterReduce::prod:
    return scatter_prod(x, indices, updates, axis);
  case ScatterReduce::amax:
    return scatter_amax(x, indices, updates, axis);
  case ScatterReduce::amin:
    return scatter_amin(x, indices, updates, axis);
  default:
    return scatter_add(x, indices, updates, axis);
  }
}

Tensor scatter_reduce(const Arg &x, int64_t axis, const Arg &indices,
                      const Arg &updates, ScatterReduce reduce,
                      bool include_self) try {
  Composed call("scatter_reduce", x);
  Tensor at = detail::asTensor(indices), with = detail::asTensor(updates);
  bool isExtremum =
      reduce == ScatterReduce::amax || reduce == ScatterReduce::amin;
  if (!include_self && isExtremum && !isFloat(call.x.dtype()))
    detail::raise(
        unsupportedDType("scatter_reduce without the element itself", call.x),
        x.where);
  Options counting{DType::i64, call.x.device()};
  Tensor count = scatter_add(zeros(call.x.shape(), counting), at,
                             ones(at.shape(), counting), axis);
  Tensor start = call.x;
  if (!include_self)
    start = where(count > 0, identityOf(reduce), call.x).to(call.x.dtype());
  Tensor result = folded(reduce, start, at, with, axis);
  if (reduce != ScatterReduce::mean)
    return result;
  Tensor parts = maximum(include_self ? count + 1 : count, 1);
  return div(result, parts.to(result.dtype()),
             isFloat(result.dtype()) ? Rounding::none : Rounding::floor);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor index_add(const Arg &x, int64_t axis, const Arg &indices,
                 const Arg &source, double alpha) try {
  Composed call("index_add", x);
  int64_t at = lineAxis(call, axis);
  Tensor positions = detail::asTensor(indices);
  Tensor added = detail::asTensor(source);
  if (call.x.rank() == 0)
    return reshape(index_add(reshape(call.x, {1}), at, flatten(positions),
                             flatten(added), alpha),
                   Dims{});
  if (positions.rank() != 1 || added.rank() != call.x.rank())
    call.fail("the indices must be a vector, and the source have x's axes");
  Dims along(call.x.rank(), Dim(1));
  along[at] = positions.dim(0);
  Tensor spread = broadcast(reshape(positions, along), added.shape());
  return scatter_add(call.x, spread, alpha == 1 ? added : added * alpha, at);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- What values decide the shape of ------------------------------------===//

namespace detail {

Tensor sizeTensor(Dim size, DeviceId device) {
  Options options{DType::i64, device};
  if (size.isConstant())
    return full({}, size.value, options);
  Expr expr = dim_exprs::get(size.expr);
  if (expr.op == ExprOp::constant)
    return full({}, expr.value, options);
  if (expr.op == ExprOp::symbol) {
    Tensor count = countOf(size.expr);
    return count.defined() ? count : sum(ones({size}, options), {0});
  }
  Tensor lhs = sizeTensor(Dim(size.value, expr.lhs), device),
         rhs = sizeTensor(Dim(size.value, expr.rhs), device);
  switch (expr.op) {
  case ExprOp::add:
    return lhs + rhs;
  case ExprOp::mul:
    return lhs * rhs;
  case ExprOp::floorDiv:
    return floor_divide(lhs, rhs);
  case ExprOp::ceilDiv:
    return -floor_divide(-lhs, rhs);
  default:
    return remainder(lhs, rhs);
  }
}

} // namespace detail

/// The places in a flat tensor where the mask holds, in order.
static Tensor placesOf(const Tensor &mask, std::source_location where) {
  Tensor flat = reshape(mask, {-1});
  // Equal elements keep their order.
  return detail::countedRows(argsort(flat, 0, /*descending=*/true),
                             count_nonzero(flat), where);
}

/// Where a mask holds, in row-major order: positions along each of its axes.
static std::vector<Tensor> positionsOf(const Tensor &mask,
                                       std::source_location where) {
  Tensor places = placesOf(mask, where);
  auto divided = [&](const Tensor &x, Dim by, bool givesRest) {
    if (detail::leavesCountsOpen()) {
      Tensor size = maximum(detail::sizeTensor(by, mask.device()), 1);
      return givesRest ? remainder(x, size) : floor_divide(x, size);
    }
    int64_t size = std::max<int64_t>(by.value, 1);
    return givesRest ? remainder(x, size) : floor_divide(x, size);
  };
  std::vector<Tensor> columns;
  Dim below = 1;
  for (int64_t axis = mask.rank(); axis-- > 0;) {
    Dim size = mask.dim(axis);
    Tensor column = places;
    if (below.value != 1 || !below.isConstant())
      column = divided(column, below, false);
    if (axis > 0)
      column = divided(column, size, true);
    columns.insert(columns.begin(), column);
    below = below * size;
  }
  return columns;
}

Tensor nonzero(const Arg &x) try {
  Composed call("nonzero", x);
  Tensor holds = call.x != 0;
  if (holds.rank() > 0)
    return stack(std::span<const Tensor>(positionsOf(holds, x.where)), 1);
  Tensor places = placesOf(holds, x.where);
  return zeros({places.dim(0), 0}, {DType::i64, call.x.device()});
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor masked_select(const Arg &x, const Arg &mask) try {
  Composed call("masked_select", x);
  Tensor holds = detail::asTensor(mask);
  auto shape = detail::broadcastShape(call.x.shape(), holds.shape());
  if (holds.dtype() != DType::boolean || !shape)
    call.fail("the mask must be bool, of a shape that broadcasts to x's");
  Dims common(shape->begin(), shape->end());
  Tensor places = placesOf(broadcast(holds, common), x.where);
  return gather(reshape(broadcast(call.x, common), {-1}), places, 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor bincount(const Arg &x, int64_t minlength) try {
  Composed call("bincount", x);
  if (call.x.rank() != 1 || isFloat(call.x.dtype()))
    call.fail("the operand must be a vector of integers");
  int64_t length = minlength;
  if (call.x.numel() > 0)
    length = std::max(length, amax(call.x).item<int64_t>(x.where) + 1);
  Options counting{DType::i64, call.x.device()};
  if (length <= 0 || call.x.numel() == 0)
    return zeros({std::max<int64_t>(length, 0)}, counting);
  return scatter_add(zeros({length}, counting), call.x.to(DType::i64),
                     ones(call.x.shape(), counting), 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Several axes -------------------------------------------------------===//

namespace {

/// What index tensors mean for one x: as one of x with the indexed axes in
/// front and as one.
class IndexedAxes {
public:
  /// An empty index tensor takes all of its axis.
  IndexedAxes(const Composed &call, const std::vector<Tensor> &indices,
              std::source_location where);

  /// Whether there is nothing to index.
  bool isWhole() const { return axes.empty(); }
  /// x as [indexed axes together, others...].
  Tensor rows(const Tensor &x) const;
  /// What `rows` was made of.
  Tensor fromRows(const Tensor &rows) const;
  /// Which of the rows.
  const Tensor &positions() const { return flat; }
  /// [positions, others...] in the shape that indexing gives, and back.
  Tensor result(const Tensor &taken) const;
  Tensor taken(const Tensor &result) const;
  Dims resultShape() const;

private:
  void add(const Tensor &index, std::source_location where);
  void addMask(const Tensor &mask, std::source_location where);
  void makeFlat();
  Dims otherDims() const;
  /// Where the index tensors' axes begin in the result.
  int64_t resultAxis() const;

  const Composed &call;
  int64_t next = 0;                ///< the axis of the next index tensor
  std::vector<int64_t> axes, rest; ///< those with indices, and the others
  std::vector<Tensor> along;       ///< one for each of `axes`
  Dims places;                     ///< the shape that they broadcast to
  Tensor flat;
};

} // namespace

static bool isGiven(const Tensor &index) { return index.defined(); }

IndexedAxes::IndexedAxes(const Composed &call,
                         const std::vector<Tensor> &indices,
                         std::source_location where)
    : call(call) {
  for (const Tensor &index : indices)
    add(index, where);
  if (indices.empty() || next > call.x.rank())
    call.fail(fmt::format("{} index tensors for {} axes", next, call.x.rank()));
  for (int64_t axis = 0; axis < call.x.rank(); ++axis)
    if (std::ranges::count(axes, axis) == 0)
      rest.push_back(axis);
  if (!axes.empty())
    makeFlat();
}

void IndexedAxes::add(const Tensor &index, std::source_location where) {
  if (!isGiven(index)) {
    ++next;
    return;
  }
  if (index.dtype() == DType::boolean)
    return addMask(index, where);
  if (!isInteger(index.dtype()))
    call.fail(fmt::format("an index tensor is {}, neither integers nor bool",
                          name(index.dtype())));
  axes.push_back(next++);
  along.push_back(index.to(DType::i64));
}

// A mask stands for as many axes as it has.
void IndexedAxes::addMask(const Tensor &mask, std::source_location where) {
  Dims own = call.x.shape(), its = mask.shape();
  if (its.empty() || next + mask.rank() > call.x.rank() ||
      !std::equal(its.begin(), its.end(), own.begin() + next,
                  [](Dim a, Dim b) { return a.value == b.value; }))
    call.fail(fmt::format("a mask {} is not of the shape of the axes from {} "
                          "on",
                          graph::typeString(*mask.node()), next));
  for (Tensor &positions : positionsOf(mask, where)) {
    axes.push_back(next++);
    along.push_back(std::move(positions));
  }
}

// Each position is taken from 0, 1, 2, ..., which is what it is, so that one
// out of range is an error: in the flat axis it might be another element's.
static Tensor checkedPosition(const Tensor &index, Dim size) {
  Tensor flat = flatten(index);
  flat = where(flat < 0, flat + size.value, flat);
  return gather(arange(size, {DType::i64, index.device()}), flat, 0);
}

void IndexedAxes::makeFlat() {
  SmallVector<Dim, 6> common;
  for (const Tensor &index : along) {
    auto both = detail::broadcastShape(common, index.shape());
    if (!both)
      call.fail("the index tensors' shapes do not broadcast");
    common = *both;
  }
  places = Dims(common.begin(), common.end());
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim size = call.x.dim(axes[i]);
    Tensor position = checkedPosition(broadcast(along[i], places), size);
    flat = i == 0 ? position : flat * size.value + position;
  }
}

Dims IndexedAxes::otherDims() const {
  Dims dims;
  for (int64_t axis : rest)
    dims.push_back(call.x.dim(axis));
  return dims;
}

// In the place of the axes that they stand for; in front where these are apart,
// as in NumPy.
int64_t IndexedAxes::resultAxis() const {
  bool areTogether = axes.back() - axes.front() + 1 == int64_t(axes.size());
  return areTogether ? axes.front() : 0;
}

Tensor IndexedAxes::rows(const Tensor &x) const {
  std::vector<int64_t> order = axes;
  order.insert(order.end(), rest.begin(), rest.end());
  Dims shape = otherDims();
  Dim all(1);
  for (int64_t axis : axes)
    all = all * x.dim(axis);
  shape.insert(shape.begin(), all);
  bool isMoved = !std::ranges::is_sorted(order);
  return reshape(isMoved ? transpose(x, order) : x, shape);
}

Tensor IndexedAxes::fromRows(const Tensor &rows) const {
  std::vector<int64_t> order = axes, inverse(call.x.rank());
  order.insert(order.end(), rest.begin(), rest.end());
  Dims shape;
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(call.x.dim(order[i]));
    inverse[order[i]] = int64_t(i);
  }
  Tensor apart = reshape(rows, shape);
  return std::ranges::is_sorted(order) ? apart : transpose(apart, inverse);
}

Dims IndexedAxes::resultShape() const {
  Dims shape = otherDims();
  shape.insert(shape.begin() + resultAxis(), places.begin(), places.end());
  return shape;
}

Tensor IndexedAxes::result(const Tensor &taken) const {
  Dims shape = otherDims();
  shape.insert(shape.begin(), places.begin(), places.end());
  Tensor apart = reshape(taken, shape);
  int64_t count = int64_t(places.size()), at = resultAxis();
  if (at == 0)
    return apart;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    order.push_back(i < at ? count + i : i < at + count ? i - at : i);
  return transpose(apart, order);
}

Tensor IndexedAxes::taken(const Tensor &result) const {
  Dims shape = otherDims();
  shape.insert(shape.begin(), flat.dim(0));
  int64_t count = int64_t(places.size()), at = resultAxis();
  if (at == 0)
    return reshape(result, shape);
  std::vector<int64_t> order;
  for (int64_t i = 0; i < result.rank(); ++i)
    order.push_back(i < count ? at + i : i < at + count ? i - count : i);
  return reshape(transpose(result, order), shape);
}

static Tensor indexed(const Composed &call, const std::vector<Tensor> &indices,
                      std::source_location where) {
  IndexedAxes axes(call, indices, where);
  if (axes.isWhole())
    return call.x;
  return axes.result(index_select(axes.rows(call.x), axes.positions(), 0));
}

Tensor take(const Arg &x, const Arg &indices) try {
  Composed call("take", x);
  Tensor at = detail::asTensor(indices);
  if (at.dtype() == DType::boolean) {
    if (!detail::sameValues(at.shape(), call.x.shape()))
      call.fail("a mask must have the operand's shape");
    at = flatten(at);
  }
  call.x = flatten(call.x);
  return indexed(call, {at}, x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor index(const Arg &x, const std::vector<Tensor> &indices) try {
  Composed call("index", x);
  return indexed(call, indices, x.where);
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// Whether the indices are one mask, where every element that it takes is put
/// the same: then nothing that the mask holds decides a shape.
static bool putsAlike(const Composed &call, const std::vector<Tensor> &indices,
                      const Tensor &values) {
  if (indices.size() != 1 || !isGiven(indices[0]) ||
      indices[0].dtype() != DType::boolean)
    return false;
  Dims mask = indices[0].shape(), own = call.x.shape();
  return !mask.empty() && mask.size() <= own.size() &&
         values.rank() <= int64_t(own.size() - mask.size()) &&
         std::equal(mask.begin(), mask.end(), own.begin(),
                    [](Dim a, Dim b) { return a.value == b.value; });
}

/// Puts `values` where the mask of the first axes holds.
static Tensor putWhere(const Tensor &x, const Tensor &mask,
                       const Tensor &values, bool accumulate) {
  Dims own = x.shape(), shape = mask.shape();
  Dims others(own.begin() + mask.rank(), own.end());
  shape.resize(own.size(), Dim(1));
  Tensor given = broadcast(values, others);
  return where(reshape(mask, shape), accumulate ? x + given : given, x);
}

Tensor index_put(const Arg &x, const std::vector<Tensor> &indices,
                 const Arg &values, bool accumulate) try {
  Composed call("index_put", x);
  Tensor given = call.element(values);
  if (putsAlike(call, indices, given))
    return putWhere(call.x, indices[0], given, accumulate);
  IndexedAxes axes(call, indices, x.where);
  if (axes.isWhole())
    return accumulate ? call.x + given : broadcast(given, call.x.shape());
  Tensor rows = axes.rows(call.x);
  Tensor updates = axes.taken(broadcast(given, axes.resultShape()));
  Dims along(rows.rank(), Dim(1));
  along[0] = updates.dim(0);
  Tensor positions =
      broadcast(reshape(axes.positions(), along), updates.shape());
  return axes.fromRows(accumulate ? scatter_add(rows, positions, updates, 0)
                                  : scatter(rows, positions, updates, 0));
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
