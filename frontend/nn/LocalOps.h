/// LocalOps: elementwise functions and norms that losses and modules need,
/// written in recorded ops. Each gives way to the op of its name.
#pragma once

#include <sinter/Tensor.h>

namespace sinter::detail {

/// log(1 + e^x) without overflow; its gradient is sigmoid(x), at 0 too.
Tensor softplus(const Tensor &x);

/// x^exponent of an x from 0 on; the gradient at 0 is 0.
Tensor power(const Tensor &x, double exponent);

/// (sum |x|^p)^(1/p) along `axes`, for p = infinity the largest |x|. The
/// gradient of a norm of 0 is 0 for p = 1, 2 and infinity.
Tensor vectorNorm(const Tensor &x, double p, const Axes &axes, bool keepdims);

/// Positions [from, to) of an axis.
Tensor part(const Tensor &x, int64_t axis, int64_t from, Dim to);

} // namespace sinter::detail
