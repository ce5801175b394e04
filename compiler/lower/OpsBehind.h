/// OpsBehind: what values are made by.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace sinter::compiler {

/// The ops that the values are made by, and those that these read, and so on.
llvm::SmallSetVector<mlir::Operation *, 16> opsBehind(mlir::ValueRange values);

} // namespace sinter::compiler
