/// Tensors that a phase before has stored.
#pragma once

#include "compiler/lower/element/ElementSource.h"

namespace sinter::compiler {

/// `tensor`, dense in a buffer of the kernel (its number).
std::unique_ptr<ElementSource> makeStored(mlir::Value tensor, unsigned buffer);

} // namespace sinter::compiler
