/// The shape rules of recording, run on ops.
#pragma once

#include "runtime/graph/ShapeRules.h"

#include "mlir/IR/Operation.h"

#include <utility>
#include <vector>

namespace sinter::ir {

/// What the shape rule of an op says of its result.
struct InferredShape {
  graph::InferredType type;
  /// Dims of different expressions that the rule took for equal.
  std::vector<std::pair<Dim, Dim>> equalities;
};

/// Runs the rule on the op's operands and attributes. What it refuses is
/// emitted as an error of the op.
llvm::FailureOr<InferredShape> inferShape(mlir::Operation *op);

} // namespace sinter::ir
