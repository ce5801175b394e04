/// What functions along axes share.
#include "frontend/Lines.h"

#include <sinter/BasicOps.h>

#include <algorithm>

namespace sinter::detail {

int64_t lineAxis(const Composed &call, int64_t axis) {
  return call.axis(axis, std::max<int64_t>(call.x.rank(), 1));
}

// The correction has no gradient: what is left of a mean sums up to 0.
Tensor centered(const Tensor &x, const Axes &axes) {
  Tensor center = mean(x, axes, true);
  return x - (center + mean(x - center, axes, true).detach());
}

} // namespace sinter::detail
