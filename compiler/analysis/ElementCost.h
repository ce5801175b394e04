/// What computing an element costs.
#pragma once

#include "compiler/target/Target.h"

#include "mlir/IR/Operation.h"

namespace sinter::compiler {

/// What arithmetic costs per element of the op's result, as so many additions
/// in loops over vectors; from the ops that its scalar body is made of. A
/// machine says how long they take (`MachineModel`).
double operationsOf(mlir::Operation *op);

/// Of all ops that the tensors are made of inside their kernel.
double operationsBehind(llvm::ArrayRef<mlir::Value> tensors);

/// Nanoseconds for an element of all of a kernel's ops, by which its phases are
/// divided among the threads of a CPU.
double elementNanoseconds(mlir::Block &body, const Target &target);

/// Of an element.
unsigned bitsOf(mlir::Value tensor);

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
