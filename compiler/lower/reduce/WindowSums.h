/// Long reductions, a result for each place of a small window.
#pragma once

#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/reduce/ColumnSpace.h"

namespace sinter::compiler {

/// Reductions of many rows whose results are a few for each of many
/// neighbours, as the gradient of a depthwise weight is: neighbours are lanes,
/// the results of each are states in registers. Blocks of rows are tasks, and
/// phases of their own merge them in order. Where lanes are threads.
bool fitWindowSums(KernelWriter &writer, const ColumnSpace &space);
void emitWindowSums(KernelWriter &writer, const ColumnSpace &space);

} // namespace sinter::compiler
