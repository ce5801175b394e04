/// FmaUnit: products of f32 as a block's unit.
#pragma once

#include "compiler/target/Target.h"

namespace sinter::compiler {

/// Tiles of products of f32, which the threads of a block sum by multiply-add,
/// each some rows and columns of the tile, from panels of both operands in
/// shared memory. Operands are read element by element: they may be computed.
/// Sums take k in ascending order.
std::unique_ptr<const BlockUnit> makeFmaUnit();

} // namespace sinter::compiler
