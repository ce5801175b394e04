/// Ops: one function per op, named by its mnemonic.
#pragma once

#include "runtime/graph/Builders.h"

#include <sinter/Tensor.h>

namespace sinter {

/// Matrix product of the last two axes; a vector counts as a row on the left
/// and a column on the right; leading axes broadcast.
Tensor matmul(const Arg &lhs, const Arg &rhs);

} // namespace sinter

#include "sinter/generated/Ops.h.inc"
