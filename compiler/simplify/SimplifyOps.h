/// Simplify: rewrites of `main` that keep every bit of its results.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace sinter::compiler {

/// One walk over the function in order: folds ops on constants, composes views
/// and drops identities. Arithmetic is rewritten only where no bit can differ,
/// NaNs aside that an input holds and sums in another order: `exact` keeps
/// their bits, too.
void simplifyOps(mlir::func::FuncOp function, bool exact = false);

/// Makes equal ops one, which then stands for all their nodes. Two draws stay
/// two, for each reads a counter of its own; what a gradient draws again is the
/// same draw.
void mergeDuplicates(mlir::func::FuncOp function);

/// Takes `after` out of the function: its users carry `afterAttr` instead
/// (FusionGraph.h).
void orderValues(mlir::func::FuncOp function);

/// Erases ops that no result depends on.
void removeDeadOps(mlir::func::FuncOp function);

/// The steps of `simplifyOps`. Each gives the value that replaces the op's
/// result, or null when it does not apply; new ops go to the builder.
mlir::Value foldConstants(mlir::Operation *op, mlir::OpBuilder &builder);
mlir::Value simplifyView(mlir::Operation *op, mlir::OpBuilder &builder);
mlir::Value simplifyArithmetic(mlir::Operation *op, bool exact);
/// A pointwise op, a reduction or a broadcast in the shape of the contraction
/// whose reshaped result it reads, or reads something of, and then the reshape.
mlir::Value sinkReshape(mlir::Operation *op, mlir::OpBuilder &builder);
/// One product of matrices for one per batch with a common right operand, and,
/// unless `exact`, for the sum of all batches' products.
mlir::Value collapseBatches(mlir::Operation *op, mlir::OpBuilder &builder,
                            bool exact);
/// Views for the sum of windows that do not overlap.
mlir::Value layWindows(mlir::Operation *op, mlir::OpBuilder &builder);
/// The reduction of a slice for a slice of what is reduced of a view.
mlir::Value sliceWindows(mlir::Operation *op, mlir::OpBuilder &builder);
/// Of a transpose that is stored and reads a broadcast, the broadcast of a
/// stored transpose.
mlir::Value turnBeforeSpread(mlir::Operation *op, mlir::OpBuilder &builder);
/// The reduction of what a transpose reads that has rows of it lie across
/// memory, where no order of sums is kept.
mlir::Value turnReduction(mlir::Operation *op, mlir::OpBuilder &builder,
                          bool exact);
/// The search for the largest or smallest of each window along the axis before
/// the last one, where neighbours are searched side by side.
mlir::Value turnShortRows(mlir::Operation *op, mlir::OpBuilder &builder);

/// What `value` is with its last two axes exchanged, if it is such a view.
mlir::Value exchangedOperand(mlir::Value value);
/// `value` with its last two axes exchanged; at the builder, unless it is such
/// a view itself.
mlir::Value exchanged(mlir::Value value, mlir::Location loc,
                      mlir::OpBuilder &builder);
/// The number that fills a tensor, or null.
mlir::TypedAttr fillOf(mlir::Value value);

} // namespace sinter::compiler
