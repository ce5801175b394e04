/// ComplexOps: what functions of complex numbers record over their parts.
///
/// A record `OnComplex` (dialects/sinter/Lowerings.td) has an op's function
/// call one of these where an operand is complex.
#pragma once

#include "sinter/runtime/Complex.h"

#include <sinter/Tensor.h>

namespace sinter::detail {

inline bool isComplex(const Arg &arg) {
  return arg.isTensor() && !arg.isEmpty() &&
         sinter::isComplex(arg.node()->dtype());
}
template <typename... Args> bool anyComplex(const Args &...args) {
  return (isComplex(args) || ...);
}

Tensor complexMul(const Arg &lhs, const Arg &rhs);
Tensor complexDiv(const Arg &lhs, const Arg &rhs);
Tensor complexPow(const Arg &lhs, const Arg &rhs);
Tensor complexMatmul(const Arg &lhs, const Arg &rhs);
/// `eq` and `ne`: complex numbers have no order.
Tensor complexCompare(const Arg &lhs, const Arg &rhs, Comparison predicate);
Tensor complexAbs(const Arg &x);
Tensor complexExp(const Arg &x);
Tensor complexLog(const Arg &x);
Tensor complexSqrt(const Arg &x);
Tensor complexReciprocal(const Arg &x);
Tensor complexSquare(const Arg &x);
Tensor complexMean(const Arg &x, const Axes &axes, bool keepdims);

} // namespace sinter::detail
