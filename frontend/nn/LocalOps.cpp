/// Elementwise functions and norms that losses and modules need.
#include "frontend/nn/LocalOps.h"

#include <sinter/Ops.h>

#include <cmath>
#include <vector>

namespace sinter::detail {

Tensor softplus(const Tensor &x) {
  return maximum(x, 0.0) + log(exp(-abs(x)) + 1.0);
}

Tensor positivePower(const Tensor &x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return square(x);
  if (exponent == 0.5)
    return sqrt(x);
  return exp(log(x) * exponent);
}

/// The root of a sum that may be 0, where no gradient flows.
static Tensor rootOfSum(const Tensor &total, double exponent) {
  Tensor isZero = total == 0.0;
  return where(isZero, total,
               positivePower(where(isZero, 1.0, total), exponent));
}

Tensor vectorNorm(const Tensor &x, double p, const Axes &axes, bool keepdims) {
  if (p == 1)
    return sum(abs(x), axes, keepdims);
  if (std::isinf(p))
    return amax(abs(x), axes, keepdims);
  if (p == 2)
    return rootOfSum(sum(square(x), axes, keepdims), 0.5);
  return rootOfSum(sum(rootOfSum(abs(x), p), axes, keepdims), 1 / p);
}

Tensor part(const Tensor &x, int64_t axis, int64_t from, Dim to) {
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  size_t at = axis < 0 ? axis + x.rank() : axis;
  starts[at] = from;
  limits[at] = to;
  return slice(x, starts, limits, steps);
}

} // namespace sinter::detail
