/// Compiled: graphs run through compiler, file form, loader and executor.
#pragma once

#include "runtime/graph/Slice.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"
#include "runtime/reference/Compare.h"

#include <span>
#include <vector>

namespace sinter::property {

/// What a graph has to give that is compiled for the device of SINTER_DEVICE.
/// Target `cpu` means that of the device.
Result<reference::Expectation>
expectationOf(const graph::Graph &graph,
              std::span<const reference::HostTensor> inputs,
              const runtime::CompileRequest &request = {});

/// What differs by more than rounding, or more than one element in a hundred
/// that could not differ for want of a finite tolerance. Each program prints
/// at its end how many those were in all.
std::string mismatchOf(std::span<const reference::HostTensor> found,
                       const reference::Expectation &expected);

/// A compiled graph on that device.
Result<std::shared_ptr<const runtime::Program>>
compileGraph(const graph::Graph &graph,
             const runtime::CompileRequest &request = {});

/// Runs a program; tensors are copied to the device and back.
Result<std::vector<reference::HostTensor>>
runProgram(const runtime::Program &program,
           std::span<const reference::HostTensor> inputs,
           runtime::RunCounters *counters = nullptr);

/// Whether two lists of tensors have the same bytes, those of NaNs too.
bool sameBytes(std::span<const reference::HostTensor> a,
               std::span<const reference::HostTensor> b);

} // namespace sinter::property
