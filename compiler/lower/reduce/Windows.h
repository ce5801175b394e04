/// Short reductions over columns.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/reduce/ColumnSpace.h"

namespace sinter::compiler {

/// Reductions of a few elements each, such as those of a pooling's windows:
/// states stay in registers, and neighbours share what they read.
bool fitWindows(KernelWriter &writer, const ColumnSpace &space);
void emitWindows(KernelWriter &writer, const ColumnSpace &space);

} // namespace sinter::compiler
