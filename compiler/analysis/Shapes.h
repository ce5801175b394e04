/// Shapes of tensors over symbols, and what their elements are.
#pragma once

#include "dialects/sinter/Types.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace sinter::compiler {

/// Extents of a tensor as expressions over the kernel's symbols.
using Shape = llvm::SmallVector<mlir::AffineExpr>;

/// The shape of a ranked tensor, from its encoding where it is symbolic.
Shape shapeOf(mlir::Type tensorType);
inline Shape shapeOf(mlir::Value tensor) { return shapeOf(tensor.getType()); }

/// Product of extents [first, last) and the whole product.
mlir::AffineExpr product(const Shape &shape, unsigned first, unsigned last,
                         mlir::MLIRContext *context);
/// The number when constant, else -1.
int64_t constantOf(mlir::AffineExpr expr);
using ir::isOne;

/// The type that values of an element type have: signless, bool is i1.
mlir::Type valueType(mlir::Type element);
/// The type of an element in memory: bool and u8 are i8, f16 and bf16 i16.
mlir::Type memoryType(mlir::Type element);
/// The element type of a tensor value.
mlir::Type elementOf(mlir::Value tensor);

} // namespace sinter::compiler
