/// The program dialect: kernels, launches, and the buffers of a plan.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "sinter/generated/ProgramDialect.h.inc"
#include "sinter/generated/ProgramEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "sinter/generated/ProgramAttrs.h.inc"

#define GET_OP_CLASSES
#include "sinter/generated/ProgramOps.h.inc"

namespace sinter::program {

/// What the module is compiled for; a plain CPU where it does not say.
TargetAttr targetOf(mlir::ModuleOp module);

} // namespace sinter::program
