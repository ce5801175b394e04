/// det and slogdet, by elimination with the largest element left as pivot.
#include <sinter/Linalg.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Math.h>

namespace sinter {

using detail::Composed;

namespace {
/// Of matrices [b, n, n]: n pivots [b], and the signs [b] of the exchanges that
/// brought them to their places.
struct Pivots {
  std::vector<Tensor> pivots, signs;
};
} // namespace

/// The largest element of m [b, n, n], which goes to `found`, and what is left
/// of the other rows and columns.
static Tensor eliminated(const Tensor &m, Pivots &found) {
  Dim batch = m.dim(0);
  int64_t n = m.dim(1).value;
  Tensor flat = reshape(m, {batch, Dim(n * n)});
  Tensor place = argmax(abs(flat), 1, /*keepdims=*/true).detach();
  Tensor row = floor_divide(place, n), column = remainder(place, n);
  Tensor pivot = reshape(gather(flat, place, 1), {batch});
  found.pivots.push_back(pivot);
  Tensor turn = remainder(reshape(row + column, {batch}), 2);
  found.signs.push_back(1 - 2 * turn.to(m.dtype()));

  Tensor divisor = where(pivot == 0, ones_like(pivot), pivot);
  Tensor rowAt = reshape(row, {batch, 1, 1});
  Tensor columnAt = reshape(column, {batch, 1, 1});
  Tensor across = gather(m, broadcast(rowAt, {batch, 1, Dim(n)}), 1);
  Tensor down = gather(m, broadcast(columnAt, {batch, Dim(n), 1}), 2);
  Tensor rest = m - down * (across / reshape(divisor, {batch, 1, 1}));

  Tensor index = arange(n - 1, {DType::i64, m.device()});
  Tensor rows = reshape(index, {1, Dim(n - 1), 1});
  rows = rows + (rows >= rowAt).to(DType::i64);
  Tensor columns = reshape(index, {1, 1, Dim(n - 1)});
  columns = columns + (columns >= columnAt).to(DType::i64);
  rest = gather(rest, broadcast(rows, {batch, Dim(n - 1), Dim(n)}), 1);
  return gather(rest, broadcast(columns, {batch, Dim(n - 1), Dim(n - 1)}), 2);
}

static Pivots pivotsOf(const Composed &call) {
  Tensor x = call.x;
  if (x.rank() < 2 || x.dim(-1).value != x.dim(-2).value || !isFloat(x.dtype()))
    call.fail("the operand must be square matrices of floats");
  x = detail::withKnownLength(x, -2, 2);
  int64_t n = x.dim(-1).value;
  Dim batch(1);
  for (int64_t i = 0; i + 2 < x.rank(); ++i)
    batch = batch * x.dim(i);
  DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Tensor m = reshape(x.to(wide), {batch, Dim(n), Dim(n)});
  Pivots found;
  for (; m.dim(1).value > 1; m = eliminated(m, found))
    ;
  if (n > 0)
    found.pivots.push_back(reshape(m, {batch}));
  else
    found.pivots.push_back(ones({batch}, {wide, x.device()}));
  return found;
}

/// [b] in the shape of the matrices' batch.
static Tensor inBatch(const Tensor &x, const Tensor &result) {
  Dims whole = x.shape();
  return reshape(result, Dims(whole.begin(), whole.end() - 2)).to(x.dtype());
}

Tensor det(const Arg &x) try {
  Composed call("det", x);
  Pivots found = pivotsOf(call);
  Tensor product = found.pivots.back();
  for (size_t i = 0; i < found.signs.size(); ++i)
    product = product * found.pivots[i] * found.signs[i];
  return inBatch(call.x, product);
} catch (...) {
  detail::raiseExhausted(x.where);
}

LogDet slogdet(const Arg &x) try {
  Composed call("slogdet", x);
  Pivots found = pivotsOf(call);
  Tensor sign = sinter::sign(found.pivots.back());
  Tensor log = sinter::log(abs(found.pivots.back()));
  for (size_t i = 0; i < found.signs.size(); ++i) {
    sign = sign * sinter::sign(found.pivots[i]) * found.signs[i];
    log = log + sinter::log(abs(found.pivots[i]));
  }
  return {inBatch(call.x, sign), inBatch(call.x, log)};
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
