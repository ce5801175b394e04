/// Lanes that change their places.
#pragma once

#include "compiler/target/simt/LaneThreads.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace sinter::compiler {

/// Lane `lane` of the vector number `vector` of those given.
struct LaneSource {
  unsigned vector = 0;
  int64_t lane = 0;
};

/// What threads have of a vector, and the vector's type.
struct LaneValue {
  mlir::Value value;
  mlir::VectorType type;
};

/// A vector whose lane i is that of source from(i).
mlir::Value permuteLanes(LaneThreads &threads, mlir::Location loc,
                         llvm::ArrayRef<LaneValue> vectors,
                         mlir::VectorType result,
                         llvm::function_ref<LaneSource(int64_t)> from);

} // namespace sinter::compiler
