/// The bits of NaN: what arithmetic gives is one NaN per dtype.
#pragma once

#include "compiler/lower/element/Emission.h"

namespace sinter::compiler {

/// Gives NaNs among the elements of `tensor` the canonical bits (quiet, sign
/// and payload 0) where somebody can see them: the tensor is made by arithmetic
/// and is stored, or moved by a view or a gather. Which NaN a processor makes
/// depends on the order of operands and on who folds; the result must not.
Element canonicalNan(Emission &emission, mlir::Value tensor, Element element);

} // namespace sinter::compiler
