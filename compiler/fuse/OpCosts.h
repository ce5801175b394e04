/// What fusion asks of an op, by its interfaces only.
#pragma once

#include "compiler/analysis/ElementCost.h"
#include "sinter/runtime/OpTable.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"

namespace sinter::compiler {

/// How the op takes part in fusion.
graph::PatternKind kindOf(mlir::Operation *op);

unsigned rankOf(mlir::Value value);
/// Whether a tensor has one element, whatever its rank.
bool isNumber(mlir::Value value);

/// A view that keeps the linear order of the elements.
bool isReshape(mlir::Operation *op);
/// A view that repeats elements along axes.
bool isBroadcast(mlir::Operation *op);
/// A view that has its operands one after the other, along an axis.
bool isJoin(mlir::Operation *op);
/// Whether a view's elements are some operand's at some positions only: pad and
/// concat, whose operands are read under masks.
bool selectsByPosition(mlir::Operation *op);

/// The axes that a reduction, gather, prefix or sort op works along.
llvm::SmallVector<int64_t> axesOf(mlir::Operation *op);

/// The extent that cost estimates assume for every symbol: one figure, so that
/// the decisions do not depend on what a dim is when a program is recorded.
inline constexpr int64_t symbolHint = 64;
/// Elements side by side that are enough to be taken by lanes of their own:
/// those of a line of memory, and of a row that lanes read together.
inline constexpr double fewestTogether = 32;
/// The value of an expression when every symbol has the hint's extent.
double estimate(mlir::AffineExpr expr);
/// Elements and bytes of a tensor by that estimate.
double estimatedElements(mlir::Type type);
double estimatedBytes(mlir::Type type);

} // namespace sinter::compiler
