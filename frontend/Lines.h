/// Lines: what walks along one axis, or averages over axes.
#pragma once

#include "frontend/Composed.h"

namespace sinter::detail {

/// An axis of the call's operand as a non-negative number, where a number
/// counts as a line of one element.
int64_t lineAxis(const Composed &call, int64_t axis);

/// x less its mean along `axes`. That is corrected by the mean of what is left:
/// equal elements leave 0.
Tensor centered(const Tensor &x, const Axes &axes);

} // namespace sinter::detail
