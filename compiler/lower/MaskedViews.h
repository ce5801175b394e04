/// Views that select by position: pad, dynamic_pad and concat.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The source of one of these ops; null for another op.
std::unique_ptr<ElementSource> makeMaskedView(mlir::Value tensor);

/// The lanes that are left when `condition` must hold too (null: all).
Lanes narrow(Emission &emission, const Lanes &lanes, mlir::Value condition);

/// `keepsTail` for these ops.
bool keepsMaskedView(mlir::Operation *op, unsigned tailRank);

/// A number attribute as a value of an element type (docs/semantics.md, full).
mlir::Value numberValue(Emission &emission, mlir::TypedAttr number,
                        mlir::Type element);

} // namespace sinter::compiler
