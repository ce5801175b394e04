/// unique: different elements by sorting.
#include <sinter/Functions.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>

namespace sinter {

using detail::Composed;

static Tensor taken(const Tensor &x, const Tensor &positions) {
  return index_select(x, positions, 0);
}

/// Positions of the rows of [n, m] in ascending order; equal ones keep theirs.
static Tensor orderOf(const Tensor &rows) {
  Tensor order;
  for (int64_t column = rows.dim(1).value; column-- > 0;) {
    Tensor key = reshape(select(rows, 1, column), {-1});
    order = order.defined() ? taken(order, argsort(taken(key, order), 0))
                            : argsort(key, 0);
  }
  return order.defined() ? order
                         : arange(rows.dim(0), {DType::i64, rows.device()});
}

/// Of n > 0 rows [n, m]; `values` is left open.
static UniqueElements uniqueRows(const Tensor &open, bool sorted) {
  Tensor rows = detail::withKnownLength(open, 0);
  Options integers{DType::i64, rows.device()};
  int64_t n = rows.dim(0).value;
  Tensor order = orderOf(rows), inOrder = taken(rows, order);
  Tensor isNew = ones({1}, {DType::boolean, rows.device()});
  if (n > 1) {
    Tensor differs =
        narrow(inOrder, 0, 1, n - 1) != narrow(inOrder, 0, 0, n - 1);
    isNew = concat({isNew, any(differs, 1)}, 0);
  }
  Tensor group = cumsum(isNew.to(DType::i64), 0) - 1;
  Tensor starts = reshape(nonzero(isNew), {-1});
  Dim count = starts.dim(0);
  UniqueElements result;
  result.indices = taken(order, starts);
  result.counts =
      scatter_add(zeros({count}, integers), group, ones({n}, integers), 0);
  result.inverse = scatter(zeros({n}, integers), order, group, 0);
  if (!sorted) {
    Tensor met = argsort(result.indices, 0);
    result.indices = taken(result.indices, met);
    result.counts = taken(result.counts, met);
    result.inverse = taken(argsort(met, 0), result.inverse);
  }
  return result;
}

UniqueElements unique(const Arg &x, std::optional<int64_t> axis,
                      bool sorted) try {
  Composed call("unique", x);
  Tensor slices =
      axis ? movedim(call.x, call.axis(*axis), 0) : reshape(call.x, {-1});
  int64_t n = slices.dim(0).value;
  UniqueElements result;
  if (n == 0) {
    Tensor none = zeros({0}, {DType::i64, call.x.device()});
    result = {slices, none, none, none};
  } else {
    Dim width(1);
    for (int64_t i = 1; i < slices.rank(); ++i)
      width = width * slices.dim(i);
    Tensor keys = slices.detach();
    result = uniqueRows(reshape(keys, {Dim(n), Dim(width.value)}), sorted);
    result.values = taken(slices, result.indices);
  }
  if (axis)
    result.values = movedim(result.values, 0, call.axis(*axis));
  else
    result.inverse = reshape(result.inverse, call.x.shape());
  return result;
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
