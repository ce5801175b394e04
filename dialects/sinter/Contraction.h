/// What passes ask of contractions: which element of each tensor takes part at
/// a point of the loops, and how elements of operands are decoded.
#pragma once

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace sinter::ir {

class ContractionOpInterface;

/// A loop of a contraction that is none of batches: over rows, over columns, or
/// the one that is summed over.
enum class ContractionLoop : uint8_t { m, n, k };

/// Maps from the loops (batch..., m, n, k) to the axes of the operands and of
/// the result. Each axis is one loop. A loop of batches that an operand lacks
/// reads the same elements again; groups are batches.
struct ContractionMaps {
  mlir::AffineMap lhs, rhs, result;
};

/// Those of [batch..., m, k] by [batch..., k, n], where the result has `rank`
/// axes.
ContractionMaps matrixProductMaps(unsigned rank, mlir::MLIRContext *context);
/// The axis that the loop is in a tensor of this map, which has one.
unsigned axisOf(mlir::AffineMap map, ContractionLoop loop);
/// How many elements the contraction's k counts.
mlir::AffineExpr depthOf(ContractionOpInterface op);
/// What products are summed in where nothing else is said: f32 for the 16-bit
/// floats, else the scalar type of the element.
mlir::Type defaultSumType(mlir::Type element);

/// How elements of an operand come from those that are stored: each is
/// converted to `element`, then multiplied by `scale`.
struct OperandDecoding {
  mlir::Value codes;        ///< what is stored
  mlir::AffineMap codesMap; ///< from the loops to its axes
  mlir::Type element;       ///< what codes are converted to
  mlir::Value scale;        ///< null where nothing is multiplied
  mlir::AffineMap scaleMap; ///< from the loops; fewer of them than of the codes
};
/// That of the ops that compute `operand`, whose axes have this map. Nothing
/// where they are no conversion from fewer bits.
std::optional<OperandDecoding> decodingBehind(mlir::Value operand,
                                              mlir::AffineMap map);

/// The contraction that is a matrix product of its operands as they are, with
/// the maps, types and sums of one; null for others, and for null.
ContractionOpInterface matrixProductOf(mlir::Operation *op);
ContractionOpInterface matrixProductOf(mlir::Value result);

/// Checks that maps and types are what `ContractionOpInterface` says.
llvm::LogicalResult verifyContraction(mlir::Operation *op);

} // namespace sinter::ir
