/// Elementwise functions and norms that losses and modules need.
#include "frontend/nn/LocalOps.h"

#include "frontend/Composed.h"

#include <sinter/BasicOps.h>

#include <cmath>
#include <vector>

namespace sinter::detail {

Tensor power(const Tensor &x, double exponent) {
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return square(x);
  // Without infinities on the way, which would make NaN of a gradient of 0.
  Tensor isZero = x == 0.0;
  Tensor safe = where(isZero, 1.0, x);
  Tensor result = exponent == 0.5 ? sqrt(safe) : exp(log(safe) * exponent);
  return where(isZero, 0.0, result);
}

Tensor vectorNorm(const Tensor &x, double p, const Axes &axes, bool keepdims) {
  if (p == 1)
    return sum(abs(x), axes, keepdims);
  if (std::isinf(p))
    return amax(abs(x), axes, keepdims);
  if (p == 2)
    return power(sum(square(x), axes, keepdims), 0.5);
  return power(sum(power(abs(x), p), axes, keepdims), 1 / p);
}

Tensor part(const Tensor &x, int64_t axis, int64_t from, Dim to) {
  Composed call("slice", x); // whose line is not the user's
  std::vector<int64_t> starts(x.rank(), 0), steps(x.rank(), 1);
  Dims limits = x.shape();
  size_t at = axis < 0 ? axis + x.rank() : axis;
  starts[at] = from;
  limits[at] = to;
  return slice(x, starts, limits, steps);
}

} // namespace sinter::detail
