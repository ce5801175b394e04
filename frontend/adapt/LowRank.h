/// LowRank: products with a matrix that is the sum of one and a product of low
/// rank.
///
/// What is read of a Param with an adapter is such a sum, recorded as any other
/// value and noted on its node. Where it is the right operand of `matmul`, as a
/// layer has it, the two are multiplied by apart: fewer elements, a dropout
/// between, and no gradient of the large matrix's size. The sum itself is then
/// read by nobody, and is never computed.
#pragma once

#include "runtime/graph/NodeNotes.h"

#include <sinter/Tensor.h>

namespace sinter::detail {

/// Records own + scale * up down, or with the product transposed, and notes it.
Tensor lowRankSum(const graph::LowRankSum &sum, const SourceLine &where);

/// Of a right operand that `multiplyLowRank` takes: what was noted on it, or on
/// what it is the transpose of; else null.
const graph::LowRankSum *lowRankOf(const Arg &rhs);

/// lhs * rhs, apart.
Tensor multiplyLowRank(const Arg &lhs, const Arg &rhs,
                       const graph::LowRankSum &sum);

} // namespace sinter::detail
