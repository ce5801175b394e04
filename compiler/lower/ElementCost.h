/// What computing an element costs.
#pragma once

#include "compiler/target/Target.h"

#include "mlir/IR/Operation.h"

namespace sinter::compiler {

/// Nanoseconds of arithmetic per element that the op costs on one core,
/// vectorized; from the ops that its scalar body is made of.
double arithmeticCost(mlir::Operation *op);

/// Whether arithmetic takes threads longer than the elements that they read and
/// write: then loops need neither long vectors nor several loads on their way,
/// of which each would have a copy of all arithmetic.
bool isArithmeticLong(mlir::Block &body);

/// Lanes that loops over the elements of a kernel take: two vectors where its
/// ops work on whole vectors, so that one waits while the other computes and
/// constants are read once for both. Of threads, only where arithmetic is
/// short; four where elements have two bytes or less.
unsigned loopLanes(mlir::Block &body, const Target &target);

} // namespace sinter::compiler
