/// Linear algebra over matmul.
#include <sinter/Linalg.h>

#include "frontend/Composed.h"
#include "frontend/Raise.h"

#include <sinter/BasicOps.h>
#include <sinter/Creation.h>
#include <sinter/Functions.h>
#include <sinter/Shaping.h>

#include <fmt/format.h>

#include <algorithm>

namespace sinter {

using detail::asTensor;
using detail::Composed;

Tensor tensordot(const Arg &lhs, const Arg &rhs, const Axes &leftAxes,
                 const Axes &rightAxes) try {
  Composed call("tensordot", lhs);
  Tensor right = asTensor(rhs);
  Composed other("tensordot", Arg(right, rhs.where));
  std::vector<int64_t> a = call.axes(leftAxes), b = other.axes(rightAxes);
  if (a.size() != b.size())
    call.fail("as many axes of both operands are summed over");
  Dim summed(1), rows(1), columns(1);
  std::vector<int64_t> leftOrder, rightOrder = b;
  Dims shape;
  for (int64_t i = 0; i < call.x.rank(); ++i)
    if (std::ranges::count(a, i) == 0) {
      leftOrder.push_back(i);
      shape.push_back(call.x.dim(i));
      rows = rows * call.x.dim(i);
    }
  for (size_t i = 0; i < a.size(); ++i) {
    if (call.x.dim(a[i]).value != right.dim(b[i]).value)
      call.fail(fmt::format("axes {} and {} have different sizes", a[i], b[i]));
    summed = summed * call.x.dim(a[i]);
  }
  leftOrder.insert(leftOrder.end(), a.begin(), a.end());
  for (int64_t i = 0; i < right.rank(); ++i)
    if (std::ranges::count(b, i) == 0) {
      rightOrder.push_back(i);
      shape.push_back(right.dim(i));
      columns = columns * right.dim(i);
    }
  return reshape(
      matmul(reshape(transpose(call.x, leftOrder), {rows, summed}),
             reshape(transpose(right, rightOrder), {summed, columns})),
      shape);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

Tensor dot(const Arg &lhs, const Arg &rhs) try {
  Composed call("dot", lhs);
  Tensor right = asTensor(rhs);
  if (call.x.rank() != 1 || right.rank() != 1)
    call.fail("the operands must be vectors");
  return matmul(call.x, right);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

Tensor outer(const Arg &lhs, const Arg &rhs) try {
  Composed call("outer", lhs);
  Tensor right = asTensor(rhs);
  if (call.x.rank() != 1 || right.rank() != 1)
    call.fail("the operands must be vectors");
  return unsqueeze(call.x, 1) * unsqueeze(right, 0);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

// Axes of both in turns, then pairwise as one.
Tensor kron(const Arg &lhs, const Arg &rhs) try {
  Composed call("kron", lhs);
  Tensor right = asTensor(rhs);
  int64_t rank = std::max(call.x.rank(), right.rank());
  Dims left, other, joined;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t a = i - (rank - call.x.rank()), b = i - (rank - right.rank());
    Dim own = a < 0 ? Dim(1) : call.x.dim(a);
    Dim theirs = b < 0 ? Dim(1) : right.dim(b);
    left.insert(left.end(), {own, Dim(1)});
    other.insert(other.end(), {Dim(1), theirs});
    joined.push_back(own * theirs);
  }
  return reshape(reshape(call.x, left) * reshape(right, other), joined);
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

Tensor cross(const Arg &lhs, const Arg &rhs, int64_t axis) try {
  Composed call("cross", lhs);
  Tensor right = asTensor(rhs);
  int64_t at = call.axis(axis);
  if (call.x.dim(at).value != 3 || right.rank() != call.x.rank() ||
      right.dim(at).value != 3)
    call.fail(fmt::format("axis {} must have 3 elements", at));
  call.x = detail::withKnownLength(call.x, at);
  right = detail::withKnownLength(right, at);
  // Elements 1, 2, 0 of one times elements 2, 0, 1 of the other.
  return roll(call.x, {-1}, {at}) * roll(right, {-2}, {at}) -
         roll(call.x, {-2}, {at}) * roll(right, {-1}, {at});
} catch (...) {
  detail::raiseExhausted(lhs.where);
}

Tensor addmm(const Arg &x, const Arg &a, const Arg &b, double beta,
             double alpha) try {
  Composed call("addmm", x);
  Tensor product = matmul(a, b);
  if (alpha != 1)
    product = product * alpha;
  // Of beta 0 nothing of x counts, not even its NaNs.
  Tensor scaled = beta == 0   ? zeros_like(call.x)
                  : beta == 1 ? call.x
                              : call.x * beta;
  return scaled + product;
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor linear(const Arg &x, const Arg &weight) try {
  Composed call("linear", x);
  Tensor w = asTensor(weight);
  if (w.rank() != 2 || call.x.rank() < 1 ||
      w.dim(1).value != call.x.dim(-1).value)
    call.fail("the weight must be [out, in], where x is [.., in]");
  return matmul(call.x, swapaxes(w, 0, 1));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor linear(const Arg &x, const Arg &weight, const Arg &bias) try {
  Composed call("linear", x);
  return linear(call.x, weight) + bias;
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor bilinear(const Arg &a, const Arg &b, const Arg &weight) try {
  Composed call("bilinear", a);
  Tensor right = asTensor(b), w = asTensor(weight);
  if (w.rank() != 3 || call.x.rank() < 1 || right.rank() != call.x.rank())
    call.fail("the weight must be [out, in of a, in of b]");
  Tensor first = matmul(unsqueeze(unsqueeze(call.x, -2), -3), w);
  return squeeze(matmul(first, unsqueeze(unsqueeze(right, -1), -3)), {-2, -1});
} catch (...) {
  detail::raiseExhausted(a.where);
}

Tensor cdist(const Arg &a, const Arg &b, double p) try {
  Composed call("cdist", a);
  Tensor right = asTensor(b);
  if (call.x.rank() < 2 || right.rank() < 2)
    call.fail("the operands must be matrices");
  return norm(unsqueeze(call.x, -2) - unsqueeze(right, -3), p, {-1});
} catch (...) {
  detail::raiseExhausted(a.where);
}

Tensor eye(Dim rows, Dim columns, Options options,
           std::source_location where) try {
  Composed call("eye", Arg(0, where));
  Options counting{DType::i32, options.device};
  Tensor isDiagonal =
      iota({rows, columns}, 0, counting) == iota({rows, columns}, 1, counting);
  return isDiagonal.to(options.dtype.value_or(DType::f32));
} catch (...) {
  detail::raiseExhausted(where);
}

// By squares.
Tensor matrix_power(const Arg &x, int64_t power) try {
  Composed call("matrix_power", x);
  if (call.x.rank() < 2 || call.x.dim(-1).value != call.x.dim(-2).value)
    call.fail("the operand must be square matrices");
  if (power < 0)
    call.fail(ErrorKind::unsupported,
              "negative powers need an inverse, which is not there");
  if (power == 0)
    return broadcast(
        eye(call.x.dim(-1), call.x.dim(-1), {call.x.dtype(), call.x.device()}),
        call.x.shape());
  Tensor result, square = call.x;
  for (;;) {
    if (power & 1)
      result = result.defined() ? matmul(result, square) : square;
    power >>= 1;
    if (power == 0)
      return result;
    square = matmul(square, square);
  }
} catch (...) {
  detail::raiseExhausted(x.where);
}

} // namespace sinter
