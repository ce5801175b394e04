/// x / s as a product with 1 / s, where many elements share s.
#pragma once

#include "compiler/lower/element/ElementSource.h"

namespace sinter::compiler {

/// The source of a `div` with that attribute; else null. Its result is within
/// 1.5 units in the last place, zeros, infinities and NaN are those of a
/// division.
std::unique_ptr<ElementSource> makeSharedDivision(mlir::Value tensor);

} // namespace sinter::compiler
