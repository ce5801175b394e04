/// Gathers and scatters whose indices may be shorter than x along other axes,
/// and indexing of several axes.
#include <sinter/Functions.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Math.h>

#include <fmt/format.h>

namespace sinter {

using detail::Composed;
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

Tensor gather(const Arg &x, const Arg &indices, int64_t axis) {
  detail::Recorder recorder(graph::OpId::gather, x);
  auto nodes =
      recorder.operands(detail::Promotion::none, 0b11, false, x, indices);
  auto sliced = partOf(nodes[0], nodes[1], axis);
  if (!sliced)
    recorder.fail(sliced.takeError());
  return recorder.result(
      graph::gather(*sliced ? *sliced : nodes[0], nodes[1], axis));
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
               int64_t axis) {
  return scattered(graph::OpId::scatter, graph::scatter, x, indices, updates,
                   axis);
}
Tensor scatter_add(const Arg &x, const Arg &indices, const Arg &updates,
                   int64_t axis) {
  return scattered(graph::OpId::scatter_add, graph::scatter_add, x, indices,
                   updates, axis);
}
Tensor scatter_prod(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) {
  return scattered(graph::OpId::scatter_prod, graph::scatter_prod, x, indices,
                   updates, axis);
}
Tensor scatter_amax(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) {
  return scattered(graph::OpId::scatter_amax, graph::scatter_amax, x, indices,
                   updates, axis);
}
Tensor scatter_amin(const Arg &x, const Arg &indices, const Arg &updates,
                    int64_t axis) {
  return scattered(graph::OpId::scatter_amin, graph::scatter_amin, x, indices,
                   updates, axis);
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
                      bool include_self) {
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
}

Tensor index_add(const Arg &x, int64_t axis, const Arg &indices,
                 const Arg &source, double alpha) {
  Composed call("index_add", x);
  int64_t at = call.axis(axis);
  Tensor positions = detail::asTensor(indices);
  Tensor added = detail::asTensor(source);
  if (positions.rank() != 1 || added.rank() != call.x.rank())
    call.fail("the indices must be a vector, and the source have x's axes");
  Dims along(call.x.rank(), Dim(1));
  along[at] = positions.dim(0);
  Tensor spread = broadcast(reshape(positions, along), added.shape());
  return scatter_add(call.x, spread, alpha == 1 ? added : added * alpha, at);
}

//===- What values decide the shape of ------------------------------------===//

/// The places in a flat tensor where the mask holds, in order.
static Tensor placesOf(const Tensor &mask, std::source_location where) {
  Tensor flat = reshape(mask, {-1});
  int64_t count = count_nonzero(flat).item<int64_t>(where);
  // Equal elements keep their order.
  return narrow(argsort(flat, 0, /*descending=*/true), 0, 0, count);
}

Tensor nonzero(const Arg &x) {
  Composed call("nonzero", x);
  Tensor places = placesOf(call.x != 0, x.where);
  std::vector<Tensor> columns;
  int64_t below = 1;
  for (int64_t axis = call.x.rank(); axis-- > 0;) {
    int64_t size = call.x.dim(axis).value;
    columns.insert(columns.begin(),
                   remainder(floor_divide(places, std::max<int64_t>(below, 1)),
                             std::max<int64_t>(size, 1)));
    below *= size;
  }
  if (columns.empty())
    return zeros({places.dim(0), 0}, {DType::i64, call.x.device()});
  return stack(std::span<const Tensor>(columns), 1);
}

Tensor masked_select(const Arg &x, const Arg &mask) {
  Composed call("masked_select", x);
  Tensor holds = detail::asTensor(mask);
  auto shape = detail::broadcastShape(call.x.shape(), holds.shape());
  if (holds.dtype() != DType::boolean || !shape)
    call.fail("the mask must be bool, of a shape that broadcasts to x's");
  Dims common(shape->begin(), shape->end());
  Tensor places = placesOf(broadcast(holds, common), x.where);
  return gather(reshape(broadcast(call.x, common), {-1}), places, 0);
}

Tensor bincount(const Arg &x, int64_t minlength) {
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
}

//===- Several axes -------------------------------------------------------===//

namespace {
/// Index tensors of the first axes as one of x with these axes in one.
struct FlatIndex {
  Tensor x;         ///< the first axes as one
  Tensor positions; ///< a vector
  Dims places;      ///< the index tensors' shape
};
} // namespace

// Each position is taken from 0, 1, 2, ..., which is what it is, so that one
// out of range is an error: in the flat axis it might be another element's.
static Tensor checkedPosition(const Tensor &index, Dim size) {
  Tensor flat = reshape(index, {-1}).to(DType::i64);
  flat = where(flat < 0, flat + size.value, flat);
  return gather(arange(size, {DType::i64, index.device()}), flat, 0);
}

static FlatIndex flatIndex(const Composed &call,
                           const std::vector<Tensor> &indices) {
  auto count = int64_t(indices.size());
  if (count < 1 || count > call.x.rank())
    call.fail(fmt::format("{} index tensors", count));
  FlatIndex flat;
  Dim rows(1);
  for (int64_t i = 0; i < count; ++i) {
    if (!detail::sameValues(indices[i].shape(), indices[0].shape()))
      call.fail("the index tensors have different shapes");
    Dim size = call.x.dim(i);
    Tensor position = checkedPosition(indices[i], size);
    flat.positions = i == 0 ? position : flat.positions * size.value + position;
    rows = rows * size;
  }
  Dims shape = call.x.shape();
  shape.erase(shape.begin(), shape.begin() + count);
  shape.insert(shape.begin(), rows);
  flat.x = reshape(call.x, shape);
  flat.places = indices[0].shape();
  return flat;
}

Tensor take(const Arg &x, const Arg &indices) {
  Composed call("take", x);
  return index(reshape(call.x, {-1}), {detail::asTensor(indices)});
}

Tensor index(const Arg &x, const std::vector<Tensor> &indices) {
  Composed call("index", x);
  FlatIndex flat = flatIndex(call, indices);
  Dims shape = flat.places, rest = flat.x.shape();
  shape.insert(shape.end(), rest.begin() + 1, rest.end());
  return reshape(index_select(flat.x, flat.positions, 0), shape);
}

Tensor index_put(const Arg &x, const std::vector<Tensor> &indices,
                 const Arg &values, bool accumulate) {
  Composed call("index_put", x);
  FlatIndex flat = flatIndex(call, indices);
  Dims rest = flat.x.shape(), shape = flat.places, rows{flat.positions.dim(0)};
  shape.insert(shape.end(), rest.begin() + 1, rest.end());
  rows.insert(rows.end(), rest.begin() + 1, rest.end());
  Tensor given = detail::asTensor(values).to(call.x.dtype());
  Tensor updates = reshape(broadcast(given, shape), rows);
  Dims along(flat.x.rank(), Dim(1));
  along[0] = rows[0];
  Tensor positions = broadcast(reshape(flat.positions, along), rows);
  Tensor result = accumulate ? scatter_add(flat.x, positions, updates, 0)
                             : scatter(flat.x, positions, updates, 0);
  return reshape(result, call.x.shape());
}

} // namespace sinter
