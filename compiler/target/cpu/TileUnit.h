/// TileUnit: the processor's tile registers (AMX) as a matrix unit.
#pragma once

#include "compiler/target/Target.h"
#include "compiler/target/cpu/Features.h"

namespace sinter::compiler {

/// Null where the features have no tiles.
std::unique_ptr<const MatrixUnit> makeTileUnit(const CpuFeatures &features);

} // namespace sinter::compiler
