/// x / s as a product with 1 / s, where many elements share s.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The attribute of a `div` whose divisor comes from a reduction of elements of
/// its own shape, so that a row or a column shares it, or in `fast` is a
/// number. Numerics modes other than `exact` set it before anything looks at
/// shapes, so that static and symbolic programs agree.
inline constexpr const char *sharedDivisorAttr = "sinter.shared_divisor";

/// The source of a `div` with that attribute; else null. Its result is within
/// 1.5 units in the last place, zeros, infinities and NaN are those of a
/// division.
std::unique_ptr<ElementSource> makeSharedDivision(mlir::Value tensor);

} // namespace sinter::compiler
