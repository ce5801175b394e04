/// Functions of complex numbers, over their parts.
#include <sinter/Complex.h>

#include "frontend/ComplexOps.h"
#include "frontend/Composed.h"
#include "frontend/Raise.h"
#include "frontend/Recording.h"
#include "runtime/graph/OpIds.h"
#include "sinter/generated/builders/Complex.h"

#include <sinter/BasicOps.h>
#include <sinter/Shaping.h>
#include <sinter/generated/functions/Elementwise.h>
#include <sinter/generated/functions/Math.h>

#include <cmath>
#include <numbers>

namespace sinter {

using detail::anyComplex;
using detail::Composed;

//===- Parts --------------------------------------------------------------===//

Tensor real(const Arg &x) try {
  if (!anyComplex(x))
    return detail::asTensor(x);
  detail::Recorder recorder(graph::OpId::real, x);
  return recorder.result(graph::real(x.node()));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor imag(const Arg &x) try {
  detail::Recorder recorder(graph::OpId::imag, x);
  auto nodes = recorder.operands(detail::Promotion::none, 1, false, x);
  return recorder.result(graph::imag(nodes[0]));
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor conj(const Arg &x) try {
  Composed call("conj", x);
  return anyComplex(x) ? complex(real(call.x), -imag(call.x)) : call.x;
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor angle(const Arg &x) try {
  Composed call("angle", x);
  if (anyComplex(x))
    return atan2(imag(call.x), real(call.x));
  // Of a real number 0 or pi, and a NaN is one.
  Tensor number = isFloat(call.x.dtype()) ? call.x : call.x.to(DType::f32);
  Tensor known = where(number < 0, std::numbers::pi, zeros_like(number));
  return where(number == number, known, number);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor polar(const Arg &abs, const Arg &angle) try {
  Composed call("polar", abs);
  Tensor turn = detail::asTensor(angle);
  return complex(call.x * cos(turn), call.x * sin(turn));
} catch (...) {
  detail::raiseExhausted(abs.where);
}

Tensor view_as_real(const Arg &x) try {
  Composed call("view_as_real", x);
  if (!anyComplex(x))
    call.fail("the operand must be complex");
  return stack({real(call.x), imag(call.x)}, -1);
} catch (...) {
  detail::raiseExhausted(x.where);
}

Tensor view_as_complex(const Arg &x) try {
  Composed call("view_as_complex", x);
  DType dtype = call.x.dtype();
  if (call.x.rank() < 1 || call.x.dim(-1).value != 2 ||
      (dtype != DType::f32 && dtype != DType::f64))
    call.fail("the operand must be f32 or f64 [.., 2]");
  return complex(select(call.x, -1, 0), select(call.x, -1, 1));
} catch (...) {
  detail::raiseExhausted(x.where);
}

namespace detail {

//===- Arithmetic ---------------------------------------------------------===//

namespace {
/// The parts of one complex operand.
struct Parts {
  explicit Parts(const Arg &x) : re(real(x)), im(imag(x)) {}
  Tensor re, im;
};
} // namespace

// A real operand is multiplied by, not taken for a complex one: that is half of
// the work, and infinities stay what they are.
Tensor complexMul(const Arg &lhs, const Arg &rhs) {
  SourceScope scope(lhs.where);
  if (!isComplex(lhs))
    return complexMul(rhs, lhs);
  Parts x(lhs);
  if (!isComplex(rhs))
    return complex(x.re * rhs, x.im * rhs);
  Parts y(rhs);
  return complex(x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re);
}

// By both parts over the larger one, so that no square overflows. The result
// does not depend on what they are divided by, nor does its gradient.
Tensor complexDiv(const Arg &lhs, const Arg &rhs) {
  SourceScope scope(lhs.where);
  if (!isComplex(rhs)) {
    Parts x(lhs);
    return complex(x.re / rhs, x.im / rhs);
  }
  Parts y(rhs);
  Tensor size = maximum(abs(y.re), abs(y.im)).detach();
  Tensor re = y.re / size, im = y.im / size;
  Tensor norm = y.re * re + y.im * im;
  if (!isComplex(lhs))
    return complex(lhs * (re / norm), -(lhs * (im / norm)));
  Parts x(lhs);
  return complex((x.re * re + x.im * im) / norm,
                 (x.im * re - x.re * im) / norm);
}

Tensor complexReciprocal(const Arg &x) {
  return complexDiv(Arg(1, x.where), x);
}

Tensor complexSquare(const Arg &x) { return complexMul(x, x); }

Tensor complexMatmul(const Arg &lhs, const Arg &rhs) {
  SourceScope scope(lhs.where);
  if (!isComplex(lhs)) {
    Parts y(rhs);
    return complex(matmul(lhs, y.re), matmul(lhs, y.im));
  }
  Parts x(lhs);
  if (!isComplex(rhs))
    return complex(matmul(x.re, rhs), matmul(x.im, rhs));
  Parts y(rhs);
  return complex(matmul(x.re, y.re) - matmul(x.im, y.im),
                 matmul(x.re, y.im) + matmul(x.im, y.re));
}

Tensor complexMean(const Arg &x, const Axes &axes, bool keepdims) {
  SourceScope scope(x.where);
  Parts parts(x);
  return complex(mean(parts.re, axes, keepdims),
                 mean(parts.im, axes, keepdims));
}

/// The imaginary part of any operand.
static Tensor imagOrZero(const Arg &x) {
  return isComplex(x) ? imag(x) : full({}, 0);
}

Tensor complexCompare(const Arg &lhs, const Arg &rhs, Comparison predicate) {
  Composed call("compare", isComplex(lhs) ? lhs : rhs);
  if (predicate != Comparison::eq && predicate != Comparison::ne)
    call.fail(ErrorKind::unsupported, "complex numbers have no order");
  auto ofParts = [&](const Arg &x, const Arg &y) {
    return compare(x, y, predicate);
  };
  Tensor re = isComplex(lhs)
                  ? ofParts(real(lhs), isComplex(rhs) ? real(rhs) : rhs)
                  : ofParts(lhs, real(rhs));
  Tensor im = ofParts(imagOrZero(lhs), imagOrZero(rhs));
  return predicate == Comparison::eq ? re * im : re + im; // and, or
}

//===- Functions ----------------------------------------------------------===//

Tensor complexAbs(const Arg &x) {
  SourceScope scope(x.where);
  return hypot(real(x), imag(x));
}

Tensor complexExp(const Arg &x) {
  SourceScope scope(x.where);
  Parts parts(x);
  return polar(exp(parts.re), parts.im);
}

Tensor complexLog(const Arg &x) {
  SourceScope scope(x.where);
  Parts parts(x);
  return complex(log(hypot(parts.re, parts.im)), atan2(parts.im, parts.re));
}

// t = sqrt((|re| + |x|) / 2) is the larger part, to which nothing cancels; the
// other one is im / 2t. Signs have no gradient of their own: at the cut it is
// the one from above, as the root is.
Tensor complexSqrt(const Arg &x) {
  SourceScope scope(x.where);
  Parts parts(x);
  Tensor one = ones_like(parts.re);
  Tensor isLeft = parts.re < 0;
  Tensor sign = copysign(one, parts.im).detach();
  Tensor length = where(isLeft, -parts.re, parts.re);
  Tensor isZero = (parts.re == 0) * (parts.im == 0);
  Tensor larger =
      sqrt(where(isZero, 1, length * 0.5 + hypot(parts.re, parts.im) * 0.5));
  Tensor smaller = parts.im / (larger * 2);
  larger = where(isZero, 0, larger);
  return complex(where(isLeft, smaller * sign, larger),
                 where(isLeft, larger * sign, smaller));
}

/// A power of a small whole number by products.
static Tensor wholePower(const Tensor &x, int64_t exponent) {
  Tensor power, square = x;
  for (int64_t left = exponent; left > 0; left /= 2) {
    if (left % 2 == 1)
      power = power.defined() ? power * square : square;
    if (left > 1)
      square = square * square;
  }
  return power;
}

Tensor complexPow(const Arg &lhs, const Arg &rhs) {
  SourceScope scope(lhs.where);
  if (!isComplex(lhs)) {
    // A real base to a complex power.
    Tensor base = asTensor(lhs), zero = full({}, 0.0);
    return exp(rhs * log(complex(base, zero)));
  }
  Tensor x = asTensor(lhs);
  bool isNumber = !rhs.isTensor() && !rhs.dynamic;
  double number = isNumber ? rhs.number.asReal() : 0;
  constexpr double mostByProducts = 64;
  if (isNumber && number == 0)
    return ones_like(x);
  if (isNumber && number == std::trunc(number) &&
      std::abs(number) <= mostByProducts) {
    Tensor power = wholePower(x, int64_t(std::abs(number)));
    return number < 0 ? reciprocal(power) : power;
  }
  if (isNumber && number == 0.5)
    return sqrt(x);
  if (isComplex(rhs))
    return exp(rhs * log(x));
  return polar(pow(abs(x), rhs), angle(x) * rhs);
}

} // namespace detail
} // namespace sinter
