/// LocalOps: functions that losses and modules share. Unlike `pow` they have a
/// gradient of 0 at 0.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::detail {

/// x^exponent of an x from 0 on; the gradient at 0 is 0.
Tensor power(const Tensor &x, double exponent);

/// (sum |x|^p)^(1/p) along `axes`, for p = infinity the largest |x|. The
/// gradient of a norm of 0 is 0 for p = 1, 2 and infinity.
Tensor vectorNorm(const Tensor &x, double p, const Axes &axes, bool keepdims);

/// Positions [from, to) of an axis.
Tensor part(const Tensor &x, int64_t axis, int64_t from, Dim to);

} // namespace sinter::detail
