/// The machine's NaN, where the canonical one is asked for.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::compiler {

/// Whether an extremum is made by the machine, and a NaN of it the machine's:
/// the other operand of an infinity passes as it is, and what is read under a
/// mask may turn out to be one.
bool isOfMachine(mlir::Operation *extremum);

/// Gives f32 and f64 maxima and minima the canonical NaN, in a function whose
/// math is expanded: the machine's own of f32 (PTX ISA: 0x7fffffff) is the
/// largest integer of 32 bits, and the canonical one the next above all
/// numbers. What only arithmetic reads is left as it is.
void canonicalExtrema(mlir::func::FuncOp function);

} // namespace sinter::compiler
