/// The target as an attribute of the module, read.
#pragma once

#include "compiler/target/MachineModel.h"
#include "dialects/program/Program.h"

#include <memory>

namespace sinter::compiler {

class Target;

/// The machine that passes over tensors choose by: the target's usual one, so
/// that no program depends on a card. A core where the attribute has none.
MachineModel machineOf(program::TargetAttr target);

/// The target that a module's attribute names; null after a diagnostic at it.
std::shared_ptr<const Target> targetFor(mlir::ModuleOp module);

} // namespace sinter::compiler
