/// Locations name the graph's values: every op knows the post-order numbers of
/// the recorded ops that it came from.
#pragma once

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace sinter::compiler {

/// The location of the value with that post-order number; prints as
/// `loc("node":7:0)`.
mlir::Location nodeLocation(mlir::MLIRContext *context, uint32_t number);

/// The location of something that stands for both.
mlir::Location mergeLocations(mlir::Location a, mlir::Location b);

/// The post-order numbers in a location, ascending, without duplicates.
llvm::SmallVector<uint32_t> nodesOf(mlir::Location location);

} // namespace sinter::compiler
