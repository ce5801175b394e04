/// Short rows: reductions of a few elements, which a thread takes by itself.
#pragma once

#include "compiler/target/Target.h"
#include "dialects/program/Program.h"

namespace sinter::compiler {

/// Whether every thread is to reduce rows of its own, in a kernel of reductions
/// of few elements along rows: then outputs are walked as those of elementwise
/// kernels, and nothing passes between threads. No bit depends on it.
bool lanesHaveRows(program::KernelOp kernel, const Target &target);

} // namespace sinter::compiler
