/// The `sinter` dialect: tensor ops with value semantics. The ops' classes are
/// declared in sinter/generated/classes, one header for each file of ops.
#pragma once

#include "dialects/sinter/Contraction.h"
#include "dialects/sinter/Reorder.h"
#include "sinter/runtime/OpTable.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace sinter::ir {

/// How two elements become one. `argmax` and `argmin` keep the position of the
/// first that is the largest, or the smallest; `assign` keeps the later one.
enum class Fold : uint8_t {
  sum,
  product,
  maximum,
  minimum,
  argmax,
  argmin,
  assign,
  logsumexp,
};

struct ViewMap;

/// Infers the result's type by the shape rule that recording uses and compares.
llvm::LogicalResult verifyShapeRule(mlir::Operation *op);

} // namespace sinter::ir

#include "sinter/generated/SinterInterfaces.h.inc"

#include "sinter/generated/SinterDialect.h.inc"
