/// 16-bit floats that stay narrow: what the machine does on pairs of them.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace sinter::compiler {

class Target;

/// Rewrites, in a function whose math is expanded,
/// - maxima and minima of widened values that are narrowed again, which are
///   those of the narrow values;
/// - the narrowing of two numbers to f16, which is one instruction, not two;
/// - the choice of one NaN for what arithmetic gave, whose NaN is the machine's
///   own: the largest integer of 16 bits.
/// No bit of a result changes.
void narrowMath(mlir::func::FuncOp function);

/// The pass `narrow-math`, of which this is one half; `canonicalExtrema` is the
/// other.
std::unique_ptr<mlir::Pass> createNarrowMath(const Target &target);

} // namespace sinter::compiler
