/// Compiled: graphs run through compiler, file form, loader and executor.
#pragma once

#include "runtime/graph/Slice.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"
#include "runtime/reference/Reference.h"

#include <span>
#include <vector>

namespace sinter::property {

/// A compiled graph on the cpu.
Result<std::shared_ptr<const runtime::Program>>
compileGraph(const graph::Graph &graph,
             const runtime::CompileRequest &request = {});

/// Runs a program; tensors are copied to the device and back.
Result<std::vector<reference::HostTensor>>
runProgram(const runtime::Program &program,
           std::span<const reference::HostTensor> inputs,
           runtime::RunCounters *counters = nullptr);

/// A difference that is more than rounding, or empty. `reference` is what
/// runtime/reference gives in the graph's dtypes, `wide` what it gives in f64:
/// how far these are apart tells how much rounding matters, and `inputs` how
/// long sums may be. Integers must be equal.
std::string differenceOf(std::span<const reference::HostTensor> found,
                         std::span<const reference::HostTensor> reference,
                         std::span<const reference::HostTensor> wide,
                         std::span<const reference::HostTensor> inputs);

/// Whether two lists of tensors have the same bytes.
bool sameBytes(std::span<const reference::HostTensor> a,
               std::span<const reference::HostTensor> b);

} // namespace sinter::property
