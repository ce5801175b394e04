/// Views rewrite an index: what each does to it, in one place.
#pragma once

#include "compiler/lower/ElementSource.h"

namespace sinter::compiler {

/// The source of a view op (reshape, transpose, broadcast, slice, flip,
/// window, unwindow, pad, concat); null for another op.
std::unique_ptr<ElementSource> makeView(mlir::Value tensor);

/// The index of the same element after a reshape from `from` to `to`.
Index reshapeIndex(Emission &emission, const Index &index, const Shape &from,
                   const Shape &to);

} // namespace sinter::compiler
