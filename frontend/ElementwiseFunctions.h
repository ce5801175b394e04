/// ElementwiseFunctions: functions of numbers that much of the frontend is
/// written in. They are those of Ops.h, declared once more, so that a new op
/// does not build what calls these again; Ops.cpp sees both.
#pragma once

#include <sinter/Tensor.h>

namespace sinter {

Tensor atan(const Arg &x);
Tensor atan2(const Arg &lhs, const Arg &rhs);
Tensor bitwise_and(const Arg &lhs, const Arg &rhs);
Tensor bitwise_left_shift(const Arg &lhs, const Arg &rhs);
Tensor bitwise_not(const Arg &x);
Tensor bitwise_or(const Arg &lhs, const Arg &rhs);
Tensor bitwise_right_shift(const Arg &lhs, const Arg &rhs);
Tensor bitwise_xor(const Arg &lhs, const Arg &rhs);
Tensor ceil(const Arg &x);
Tensor copysign(const Arg &lhs, const Arg &rhs);
Tensor digamma(const Arg &x);
Tensor erfc(const Arg &x);
Tensor erfinv(const Arg &x);
Tensor exp2(const Arg &x);
Tensor expm1(const Arg &x);
Tensor floor(const Arg &x);
Tensor fmod(const Arg &lhs, const Arg &rhs);
Tensor lgamma(const Arg &x);
Tensor log10(const Arg &x);
Tensor log1p(const Arg &x);
Tensor log2(const Arg &x);
Tensor polygamma(const Arg &x, int64_t order);
Tensor round(const Arg &x);
Tensor trunc(const Arg &x);

Tensor acos(const Arg &x);
Tensor acosh(const Arg &x);
Tensor asin(const Arg &x);
Tensor asinh(const Arg &x);
Tensor atanh(const Arg &x);
Tensor cosh(const Arg &x);
Tensor deg2rad(const Arg &x);
Tensor floor_divide(const Arg &lhs, const Arg &rhs);
Tensor fmax(const Arg &lhs, const Arg &rhs);
Tensor fmin(const Arg &lhs, const Arg &rhs);
Tensor frac(const Arg &x);
Tensor hypot(const Arg &lhs, const Arg &rhs);
Tensor isfinite(const Arg &x);
Tensor isinf(const Arg &x);
Tensor isnan(const Arg &x);
Tensor logaddexp(const Arg &lhs, const Arg &rhs);
Tensor logical_and(const Arg &lhs, const Arg &rhs);
Tensor logical_not(const Arg &x);
Tensor logical_or(const Arg &lhs, const Arg &rhs);
Tensor logical_xor(const Arg &lhs, const Arg &rhs);
Tensor rad2deg(const Arg &x);
Tensor reciprocal(const Arg &x);
Tensor remainder(const Arg &lhs, const Arg &rhs);
Tensor sign(const Arg &x);
Tensor signbit(const Arg &x);
Tensor sinc(const Arg &x);
Tensor sinh(const Arg &x);
Tensor tan(const Arg &x);
Tensor xlogy(const Arg &lhs, const Arg &rhs);

Tensor celu(const Arg &x, double alpha);
Tensor elu(const Arg &x, double alpha);
Tensor hardshrink(const Arg &x, double lambda);
Tensor hardsigmoid(const Arg &x);
Tensor hardswish(const Arg &x);
Tensor hardtanh(const Arg &x, double min, double max);
Tensor leaky_relu(const Arg &x, double negative_slope);
Tensor logsigmoid(const Arg &x);
Tensor mish(const Arg &x);
Tensor relu6(const Arg &x);
Tensor selu(const Arg &x);
Tensor softplus(const Arg &x, double beta, double threshold);
Tensor softshrink(const Arg &x, double lambda);
Tensor threshold(const Arg &x, double bound, double value);

} // namespace sinter
