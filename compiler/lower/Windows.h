/// Short reductions over columns.
#pragma once

#include "compiler/lower/ColumnSpace.h"
#include "compiler/lower/KernelWriter.h"

namespace sinter::compiler {

/// Reductions of a few elements each, such as those of a pooling's windows:
/// states stay in registers, and neighbours share what they read.
bool fitWindows(KernelWriter &writer, const ColumnSpace &space);
void emitWindows(KernelWriter &writer, const ColumnSpace &space);

} // namespace sinter::compiler
