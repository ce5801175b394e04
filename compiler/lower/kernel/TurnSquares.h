/// Squares of elements, turned in registers.
#pragma once

#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

/// Each square of as many lanes as there are rows, a power of two, is turned in
/// its place.
llvm::SmallVector<mlir::Value> turnSquares(Emission &emission,
                                           llvm::SmallVector<mlir::Value> rows);

} // namespace sinter::compiler
