/// Functions that arrange elements: views of views.
#include <sinter/Shaping.h>

#include "frontend/Lines.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace sinter {

using detail::Composed;
using detail::lineAxis;

/// x[starts : limits] along one axis.
static Tensor sliceAlong(const Tensor &x, int64_t axis, Dim start, Dim limit,
                         int64_t step = 1) {
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  starts[axis] = start.value;
  limits[axis] = limit;
  steps[axis] = step;
  return slice(x, starts, limits, steps);
}

/// The first of several operands, for a call that has one at least.
static const Tensor &firstOf(std::span<const Tensor> xs, const char *name,
                             const std::source_location &where) {
  if (xs.empty())
    Composed(name, Arg(0, where)).fail("there is no operand");
  return xs[0];
}

//===- Joining and splitting ----------------------------------------------===//

Tensor stack(std::span<const Tensor> xs, int64_t axis,
             std::source_location where) try {
  Composed call("stack", Arg(firstOf(xs, "stack", where), where));
  int64_t at = call.axis(axis, call.x.rank() + 1);
  std::vector<Tensor> parts;
  for (const Tensor &x : xs) {
    detail::checkNotEmpty(x, where);
    if (!detail::sameValues(x.shape(), call.x.shape()))
      call.fail("the operands have different shapes");
    parts.push_back(unsqueeze(x, at));
  }
  return concat(std::span<const Tensor>(parts), at);
} catch (...) {
  detail::raiseExhausted(where);
}

std::vector<Tensor> split(const Arg &x, const std::vector<int64_t> &sizes,
                          int64_t axis) try {
  Composed call("split", x);
  int64_t at = call.axis(axis), start = 0;
  call.x = detail::withKnownLength(call.x, at);
  std::vector<Tensor> parts;
  for (int64_t size : sizes) {
    if (size < 0)
      call.fail(fmt::format("size {} is negative", size));
    if (start + size > call.x.dim(at).value)
      break;
    parts.push_back(sliceAlong(call.x, at, start, Dim(start + size)));
    start += size;
  }
  if (parts.size() != sizes.size() || start != call.x.dim(at).value)
    call.fail(
        fmt::format("the sizes do not add up to {}", call.x.dim(at).value));
  return parts;
} catch (...) {
  detail::raiseExhausted(x.where);
}

/// Parts of `size`, the last of which may be shorter.
static std::vector<Tensor> partsOf(const Tensor &open, int64_t size,
                                   int64_t axis) {
  Tensor x = detail::withKnownLength(open, axis);
  std::vector<Tensor> parts;
  int64_t length = x.dim(axis).value, start = 0;
  do {
    int64_t limit = std::min(start + size, length);
    parts.push_back(sliceAlong(x, axis, start, Dim(limit)));
    start += size;
  } while (start < length);
  return parts;
}

std::vector<Tensor> split(const Arg &x, int64_t size, int64_t axis) try {
  Composed call("split", x);
  if (size < 1)
    call.fail(fmt::format("size {} is not positive", size));
  return partsOf(call.x, size, call.axis(axis));
} catch (...) {
  detail::raiseExhausted(x.where);
}

std::vector<Tensor> chunk(const Arg &x, int64_t chunks, int64_t axis) try {
  Composed call("chunk", x);
  if (chunks < 1)
    call.fail(fmt::format("{} chunks", chunks));
  int64_t at = call.axis(axis), length = call.x.dim(at).value;
  return partsOf(call.x, std::max<int64_t>((length + chunks - 1) / chunks, 1),
                 at);
} catch (...) {
  detail::raiseExhausted(x.where);
}

std::vector<Tensor> unbind(const Arg &x, int64_t axis) try {
  Composed call("unbind", x);
  int64_t at = call.axis(axis);
  call.x = detail::withKnownLength(call.x, at);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < call.x.dim(at).value; ++i)
    parts.push_back(squeeze(sliceAlong(call.x, at, i, Dim(i + 1)), {at}));
  return parts;
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Axes ---------------------------------------------------------------===//

Tensor flatten(const Arg &x, int64_t start, int64_t end) try {
  Composed call("flatten", x);
  if (call.x.rank() == 0)
    return reshape(call.x, {1});
  int64_t first = call.axis(start), last = call.axis(end);
  if (first > last)
    call.fail(fmt::format("axis {} comes after axis {}", first, last));
  Dims shape = call.x.shape(), result(shape.begin(), shape.begin() + first);
  Dim all(1);
  for (int64_t i = first; i <= last; ++i)
    all = all * shape[i];
  result.push_back(all);
  result.insert(result.end(), shape.begin() + last + 1, shape.end());
  return reshape(call.x, result);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor unflatten(const Arg &x, int64_t axis, const Dims &dims) try {
  Composed call("unflatten", x);
  int64_t at = call.axis(axis);
  Dims shape = call.x.shape();
  Dim own = shape[at], known(1);
  Dims parts = dims;
  Dim *open = nullptr;
  for (Dim &part : parts) {
    if (part.value == -1 && !open)
      open = &part;
    else
      known = known * part;
  }
  if (open && known.value > 0)
    *open = floorDiv(own, known);
  Dim product(1);
  for (Dim part : parts)
    product = product * part;
  if (product.value != own.value)
    call.fail(fmt::format("the dims do not make up axis {}", at));
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, parts.begin(), parts.end());
  return reshape(call.x, shape);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor permute(const Arg &x, const Axes &order) { return transpose(x, order); }

Tensor swapaxes(const Arg &x, int64_t first, int64_t second) try {
  Composed call("swapaxes", x);
  std::vector<int64_t> order(call.x.rank());
  std::iota(order.begin(), order.end(), 0);
  if (order.empty())
    order.push_back(0);
  std::swap(order[lineAxis(call, first)], order[lineAxis(call, second)]);
  if (call.x.rank() == 0)
    return call.x;
  return transpose(call.x, order);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor movedim(const Arg &x, const Axes &from, const Axes &to) try {
  Composed call("movedim", x);
  if (call.x.rank() == 0) {
    for (const Axes *axes : {&from, &to})
      for (int64_t axis : *axes)
        lineAxis(call, axis);
    return call.x;
  }
  std::vector<int64_t> sources = call.axes(from), targets = call.axes(to);
  if (sources.size() != targets.size())
    call.fail("as many axes come as go");
  std::vector<int64_t> order(call.x.rank(), -1);
  for (size_t i = 0; i < targets.size(); ++i)
    order[targets[i]] = sources[i];
  int64_t next = 0;
  for (int64_t &axis : order) {
    if (axis >= 0)
      continue;
    while (std::ranges::count(sources, next))
      ++next;
    axis = next++;
  }
  return transpose(call.x, order);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor expand(const Arg &x, const Dims &shape) { return broadcast(x, shape); }

//===- Repetition ---------------------------------------------------------===//

// Each axis gets one before it, which is expanded and joined to it.
Tensor repeat(const Arg &x, const Axes &counts) try {
  Composed call("repeat", x);
  int64_t rank = call.x.rank(), added = int64_t(counts.size()) - rank;
  if (counts.isAll() || added < 0)
    call.fail("there must be a count for each axis at least");
  Dims apart, wide, joined;
  for (int64_t i = 0; i < int64_t(counts.size()); ++i) {
    int64_t count = counts.begin()[i];
    if (count < 0)
      call.fail(fmt::format("count {} is negative", count));
    Dim own = i < added ? Dim(1) : call.x.dim(i - added);
    apart.insert(apart.end(), {Dim(1), own});
    wide.insert(wide.end(), {Dim(count), own});
    joined.push_back(Dim(count) * own);
  }
  return reshape(broadcast(reshape(call.x, apart), wide), joined);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor repeat_interleave(const Arg &x, int64_t count, int64_t axis) try {
  Composed call("repeat_interleave", x);
  int64_t at = lineAxis(call, axis);
  if (call.x.rank() == 0)
    return repeat_interleave(reshape(call.x, {1}), count, at);
  if (count < 0)
    call.fail(fmt::format("count {} is negative", count));
  Dims wide = call.x.shape(), joined = wide;
  wide.insert(wide.begin() + at + 1, Dim(count));
  joined[at] = joined[at] * Dim(count);
  return reshape(broadcast(unsqueeze(call.x, at + 1), wide), joined);
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Diagonals ----------------------------------------------------------===//

/// Where column - row compares to `diagonal`, of the last two axes.
static Tensor triangle(const Tensor &x, int64_t diagonal,
                       Comparison predicate) {
  Dims matrix{x.dim(-2), x.dim(-1)};
  Options options{DType::i32, x.device()};
  Tensor distance = iota(matrix, 1, options) - iota(matrix, 0, options);
  return compare(distance, diagonal, predicate);
}

static Tensor maskedTriangle(const char *name, const Arg &x, int64_t diagonal,
                             Comparison predicate) {
  Composed call(name, x);
  if (call.x.rank() < 2)
    call.fail("there must be two axes at least");
  return where(triangle(call.x, diagonal, predicate), call.x, 0);
}

Tensor tril(const Arg &x, int64_t diagonal) try {
  return maskedTriangle("tril", x, diagonal, Comparison::le);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor triu(const Arg &x, int64_t diagonal) try {
  return maskedTriangle("triu", x, diagonal, Comparison::ge);
} catch (...) {
  detail::raiseExhausted(x.where);
}

// Rows that are one longer than the matrix' make a diagonal a column: the
// diagonal's elements of the flat matrix stand `columns + 1` apart.
Tensor diagonal(const Arg &x, int64_t offset, int64_t axis1,
                int64_t axis2) try {
  Composed call("diagonal", x);
  int64_t first = call.axis(axis1), second = call.axis(axis2);
  if (first == second)
    call.fail("the axes must differ");
  Tensor matrices = movedim(call.x, {first, second}, {-2, -1});
  matrices = detail::withKnownLength(matrices, -2, 2);
  int64_t rows = matrices.dim(-2).value, columns = matrices.dim(-1).value;
  int64_t count = offset >= 0 ? std::min(rows, columns - offset)
                              : std::min(rows + offset, columns);
  Dims shape = matrices.shape();
  shape.pop_back();
  if (count <= 0) {
    shape.back() = Dim(0);
    return zeros(shape, {call.x.dtype(), call.x.device()});
  }
  shape.back() = Dim(rows * columns);
  Tensor flat = reshape(matrices, shape);
  int64_t start = offset >= 0 ? offset : -offset * columns;
  return sliceAlong(flat, flat.rank() - 1, start,
                    Dim(start + (count - 1) * (columns + 1) + 1), columns + 1);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor diag_embed(const Arg &x, int64_t offset) try {
  Composed call("diag_embed", x);
  if (call.x.rank() < 1)
    call.fail("there must be an axis at least");
  Dim size = call.x.dim(-1) + Dim(std::abs(offset));
  Dims shape = call.x.shape();
  shape.push_back(size);
  shape[shape.size() - 2] = size;
  // The vector along the diagonal's columns, moved to where they begin.
  int64_t before = std::max<int64_t>(offset, 0);
  Tensor row = sinter::pad(
      call.x, {{-1, before, std::max<int64_t>(-offset, 0)}}, PadMode::constant);
  Tensor wide = broadcast(unsqueeze(row, -2), shape);
  return where(triangle(wide, offset, Comparison::eq), wide, 0);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor trace(const Arg &x) try {
  Composed call("trace", x);
  if (call.x.rank() != 2)
    call.fail("the operand must be a matrix");
  return sum(diagonal(call.x));
} catch (...) {
  detail::raiseExhausted(x.where);
}

//===- Grids --------------------------------------------------------------===//

std::vector<Tensor> meshgrid(std::span<const Tensor> xs, bool xy,
                             std::source_location where) try {
  Composed call("meshgrid", Arg(firstOf(xs, "meshgrid", where), where));
  std::vector<int64_t> axisOf(xs.size());
  std::iota(axisOf.begin(), axisOf.end(), 0);
  if (xy && xs.size() > 1)
    std::swap(axisOf[0], axisOf[1]);
  Dims shape(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].rank() > 1)
      call.fail("the operands must be vectors");
    shape[axisOf[i]] = Dim(xs[i].rank() == 1 ? xs[i].dim(0) : Dim(1));
  }
  std::vector<Tensor> grids;
  for (size_t i = 0; i < xs.size(); ++i) {
    Dims own(xs.size(), Dim(1));
    own[axisOf[i]] = shape[axisOf[i]];
    grids.push_back(broadcast(reshape(xs[i], own), shape));
  }
  return grids;
} catch (...) {
  detail::raiseExhausted(where);
}

} // namespace sinter
