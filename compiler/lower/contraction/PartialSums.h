/// PartialSums: the phase that adds up the parts of a split contraction.
#pragma once

#include "compiler/lower/kernel/DepthSplit.h"
#include "compiler/lower/kernel/KernelWriter.h"
#include "compiler/lower/kernel/Sinks.h"

namespace sinter::compiler {

/// Adds the phase that adds up the parts and stores what the sinks make of
/// them. `partials` is the number of the workspace, in which part p of the
/// result's element e is number p * elements + e.
void addPartialSums(KernelWriter &writer, ir::ContractionOpInterface op,
                    const DepthSplit &split, unsigned partials,
                    llvm::ArrayRef<Sink> sinks);

} // namespace sinter::compiler
