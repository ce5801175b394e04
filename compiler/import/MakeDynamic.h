/// Dims of a model that was written with constants become symbols.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace sinter::compiler {

/// Each of `axes` says `INPUT:AXIS=SYMBOL`, by the input's name or number; one
/// symbol may stand for several axes. Wherever the axis' extent occurs in a
/// type or attribute it becomes the symbol. That is refused, by a diagnostic,
/// when the extent also occurs at an input's axis that is not named, or when an
/// op's shape does not follow from its operands any more (a reshape by a
/// literal number).
llvm::LogicalResult makeDynamic(mlir::ModuleOp module,
                                const std::vector<std::string> &axes);

} // namespace sinter::compiler
