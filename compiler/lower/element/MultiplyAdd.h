/// a * b + c rounded once, where two tensor ops may be contracted.
#pragma once

#include "compiler/lower/element/ElementSource.h"

namespace sinter::compiler {

/// The source of a sum with that attribute, if its product is in the kernel and
/// the target multiplies and adds in one step; else null.
std::unique_ptr<ElementSource> makeMultiplyAdd(Emission &emission,
                                               mlir::Value tensor);

} // namespace sinter::compiler
