/// Programs: from a keyed slice to the program that evaluates it.
#pragma once

#include "frontend/Flush.h"
#include "runtime/graph/Key.h"
#include "runtime/graph/Slice.h"
#include "runtime/program/CompilerHook.h"
#include "runtime/program/Program.h"
#include "runtime/tune/Tuner.h"

#include <memory>

namespace sinter::detail {

/// What a program depends on beside its graph: device profile, numerics,
/// digest of the compiler.
Result<runtime::Key> environmentOf(DeviceId device);

/// The options of the JIT's compilations; an error when SINTER_NUMERICS names
/// no mode.
Result<runtime::CompileRequest> compileRequest(DeviceId device);

/// A compilation of the graph, which outlives it, at the sizes of its
/// recording.
runtime::Tunable tunableOf(const graph::Graph &graph,
                           const runtime::CompileRequest &request);

/// The program of a slice this process met before: the step cache, which
/// guesses from the thread's last program, then the table of known programs.
/// Structure is compared, not only keys. Null when unknown.
std::shared_ptr<const runtime::Program>
findKnown(const graph::KeyedSlice &slice);

/// Counts a slice that is interpreted as if its program were compiled when it
/// is met first and found afterwards.
void countInterpreted(const graph::KeyedSlice &slice, const graph::Slice &graph,
                      const FlushLine &line);

/// The program of a slice, from the caches or compiled. A miss is counted with
/// what differs from the last program of the flush's line.
Result<std::shared_ptr<const runtime::Program>>
findOrCompile(const runtime::Key &key, std::span<const uint32_t> encoding,
              const graph::Slice &slice, DeviceId device,
              const FlushLine &line);

} // namespace sinter::detail
