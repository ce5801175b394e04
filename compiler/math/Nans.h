/// What is known of NaNs among the operands of an op of `arith`.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"

#include <optional>

namespace sinter::compiler {

/// The number that all lanes of a value are known to be; none for NaN.
std::optional<llvm::APFloat> knownNumber(mlir::Value value);

/// Whether an arith.maximumf or minimumf passes a NaN on as it is, for which
/// one instruction does; else its NaN is the one that arithmetic has.
bool passesNan(mlir::Operation *extremum);
/// Whether a maximumf or minimumf is promised that no operand is NaN.
bool ignoresNan(mlir::Operation *extremum);

} // namespace sinter::compiler
