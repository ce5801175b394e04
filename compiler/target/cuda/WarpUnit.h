/// WarpUnit: a warp's tensor cores as a matrix unit.
#pragma once

#include "compiler/target/Target.h"

namespace sinter::compiler {

/// Tiles of 16 x 16 sums in f32, of bf16 (compute capability 8.0 and newer).
/// Its registers are values of the threads; operands are read where they are,
/// each row of the left one at a multiple of 16 bytes.
std::unique_ptr<const MatrixUnit> makeWarpUnit();

} // namespace sinter::compiler
