/// Instructions on whole vectors.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter::compiler {

/// Whether a value of `type` consists of whole vectors of `bits`.
bool isWhole(mlir::Type type, unsigned bits);

/// Calls `emit` on the vectors of `bits` that `operands`, of one number of
/// lanes, consist of, and puts the results together. A scalar is brought to
/// every lane of a vector, and taken out of the result.
mlir::Value byWholeVectors(
    mlir::OpBuilder &builder, mlir::Location loc, unsigned bits,
    llvm::ArrayRef<mlir::Value> operands,
    llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::Value>)> emit);

/// A call of an instruction's intrinsic.
mlir::Value callIntrinsic(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type result, llvm::StringRef name,
                          llvm::ArrayRef<mlir::Value> operands);

} // namespace sinter::compiler
