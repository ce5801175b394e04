/// Ops: one function per op, named by its mnemonic.
#pragma once

#include "runtime/graph/Builders.h"

#include <sinter/Tensor.h>

namespace sinter {

/// Matrix product of the last two axes; a vector counts as a row on the left
/// and a column on the right; leading axes broadcast.
Tensor matmul(const Arg &lhs, const Arg &rhs);

/// x without those of its axes that have size 1: of the named ones, or of all.
Tensor squeeze(const Arg &x, const Axes &axes = {});

/// x with a new axis of size 1. The axis counts in the result; -1 is the last.
Tensor unsqueeze(const Arg &x, int64_t axis);

} // namespace sinter

#include "sinter/generated/Ops.h.inc"
