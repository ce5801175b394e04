/// Scatters whose positions are sorted first.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"

namespace sinter::compiler {

/// One scatter, its result stored, where lanes are threads and all fibers have
/// many positions in common, of known number. False, and nothing added, for
/// another one. Bits are those that one owner of a fiber would make.
bool emitSortedScatter(KernelWriter &writer, mlir::Value scattered);

} // namespace sinter::compiler
