/// Views that put windows back into their image.
#pragma once

#include "compiler/lower/element/ElementSource.h"
#include "dialects/sinter/ViewMap.h"

namespace sinter::compiler {

/// The source of windows' elements at the places that they were taken from.
std::unique_ptr<ElementSource> makeUnwindowed(mlir::Value tensor,
                                              ir::ViewMap map);

} // namespace sinter::compiler
