/// Execute: runs a bound slice, by its program or by the reference.
#pragma once

#include "frontend/Flush.h"
#include "frontend/FlushPlan.h"
#include "runtime/graph/Slice.h"
#include "runtime/program/Program.h"

#include <functional>
#include <optional>
#include <vector>

namespace sinter::detail {

/// What stands in for compiled programs, for tests of everything above them.
using Executor = std::function<Result<std::vector<runtime::BufferRef>>(
    const graph::Slice &slice, std::span<const runtime::Binding> bindings)>;
/// Installs `executor` for every device, or removes it. Not thread-safe.
void setExecutor(Executor executor);

/// Evaluates by runtime/reference, on the device's memory.
Result<std::vector<runtime::BufferRef>>
executeByReference(const graph::Slice &slice,
                   std::span<const runtime::Binding> bindings, DeviceId device);

/// What running a plan needs, decided under evaluation's lock.
struct Execution {
  DeviceId device;
  FlushLine line;
  std::shared_ptr<const runtime::Program> program; ///< when known already
  std::optional<graph::Slice> graph;               ///< else
};
Execution prepare(FlushPlan &plan, DeviceId device, const FlushLine &line);

/// Runs; gives one buffer per output. Without evaluation's lock.
Result<std::vector<runtime::BufferRef>> execute(Execution &execution,
                                                const FlushPlan &plan);

} // namespace sinter::detail
