/// StepFlow: what each step of a program reads and writes.
#pragma once

#include "runtime/program/BoundPlan.h"
#include "runtime/program/ProgramData.h"

#include <cstdint>
#include <vector>

namespace sinter::cli {

/// Plan buffers of one step.
struct StepFlow {
  std::vector<uint32_t> reads, writes, workspaces;
};
/// Of each step. A loop reads what its first round begins with, and writes what
/// its body takes from it. What a loop leaves is written by the step of the
/// body that makes it.
std::vector<StepFlow> flowOf(const runtime::ProgramData &program);

/// A step that reads what another one wrote last before it.
struct FlowEdge {
  uint32_t from, to, buffer;
};
std::vector<FlowEdge> flowEdges(const std::vector<StepFlow> &flows);

/// How often a run makes a step, in loops that have a condition: at most.
int64_t timesOfStep(const runtime::ProgramData &program,
                    const runtime::BoundPlan &plan, uint32_t step);

} // namespace sinter::cli
