/// a * b + c rounded once, where two tensor ops may be contracted.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The attribute of an `add`, a `sub` or a `sum` along axes that names the
/// operand whose product is not rounded by itself. Numerics modes other than
/// `exact` set it before anything looks at shapes, so that static and symbolic
/// programs agree.
inline constexpr const char *contractAttr = "sinter.contract";

/// The source of a sum with that attribute, if its product is in the kernel and
/// the target multiplies and adds in one step; else null.
std::unique_ptr<ElementSource> makeMultiplyAdd(Emission &emission,
                                               mlir::Value tensor);

} // namespace sinter::compiler
