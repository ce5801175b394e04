/// Import: a graph, or its text, becomes a function in the `sinter` dialect.
#pragma once

#include "sinter/runtime/Graph.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <string_view>

namespace sinter::compiler {

/// Names of the attributes of `main`'s arguments, results and itself.
namespace port_attrs {
inline constexpr const char *kind = "sinter.kind";       ///< of an argument
inline constexpr const char *name = "sinter.name";       ///< of either
inline constexpr const char *node = "sinter.node";       ///< post-order number
inline constexpr const char *complex = "sinter.complex"; ///< floats are pairs
inline constexpr const char *guards = "sinter.guards";
inline constexpr const char *numSymbols = "sinter.num_symbols";
} // namespace port_attrs

/// `data`, `parameter` or `scalar`.
std::string_view toString(graph::InputKind kind);

/// A module with one function, `main`, whose ops are the graph's values in
/// order, composites included, each located at its post-order number. Null
/// after a diagnostic when a value has a dtype that nothing computes with.
mlir::OwningOpRef<mlir::ModuleOp> importGraph(const graph::Graph &graph,
                                              mlir::MLIRContext *context);

/// The same from text as `exportText` writes it: parsed, checked, and located
/// by the post-order numbers that the text implies. A text of the stage `fuse`
/// is read as well: kernels and launches. Null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> importText(std::string_view text,
                                             mlir::MLIRContext *context);

/// Whether the text had kernels.
bool isFormed(mlir::ModuleOp module);

/// The graph of such a module, before anything changed it. Fails after a
/// diagnostic when an op is not of the `sinter` dialect.
llvm::FailureOr<graph::Graph> toGraph(mlir::ModuleOp module);

/// Checks that the module is a program and locates its values by the numbers
/// that the text implies: what `importText` does after parsing.
llvm::LogicalResult numberNodes(mlir::ModuleOp module);

/// The module as text without locations.
std::string exportText(mlir::ModuleOp module);

/// Notes the post-order number of each result, while the function still returns
/// the graph's own values.
void numberResults(mlir::ModuleOp module);

/// The number of symbols of the program.
unsigned programSymbols(mlir::ModuleOp module);

/// Values numbered so far: post-order numbers are below this.
uint32_t numNodes(mlir::ModuleOp module);

} // namespace sinter::compiler
