/// The target as an attribute of the module, read.
#pragma once

#include "compiler/target/MachineModel.h"
#include "dialects/program/Program.h"

namespace sinter::compiler {

/// The machine that passes over tensors choose by: the target's usual one, so
/// that no program depends on a card. A core where the attribute has none.
MachineModel machineOf(program::TargetAttr target);

} // namespace sinter::compiler
