/// Views that select by position: an operand among equal elements, and operands
/// one after the other.
#pragma once

#include "compiler/lower/element/ElementSource.h"
#include "dialects/sinter/ViewMap.h"

namespace sinter::compiler {

/// The source of such a view, whose axes keep their places.
std::unique_ptr<ElementSource> makeMaskedView(mlir::Value tensor,
                                              ir::ViewMap map);

/// The lanes that are left when `condition` must hold too (null: all).
Lanes narrow(Emission &emission, const Lanes &lanes, mlir::Value condition);

/// A number attribute as a value of an element type (docs/semantics.md, full).
mlir::Value numberValue(Emission &emission, mlir::TypedAttr number,
                        mlir::Type element);

} // namespace sinter::compiler
