/// Verify: what SINTER_VERIFY does with each program that ran.
#pragma once

#include "runtime/program/CompilerHook.h"
#include "runtime/reference/Reference.h"

#include <span>

namespace sinter::reference {

/// Evaluates `graph` by the reference and compares. The first output that
/// differs by more than rounding is an error of kind `internal` that names its
/// op and line, and a repro in the working directory: the graph, its inputs
/// and the `request` by which it was compiled. An error of the reference itself
/// (an index out of range) is none here: the program raises it.
Status verify(const graph::Graph &graph, std::span<const HostTensor> inputs,
              std::span<const HostTensor> outputs,
              const runtime::CompileRequest &request);

} // namespace sinter::reference
