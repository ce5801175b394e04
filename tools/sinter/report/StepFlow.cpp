/// From lists of buffers to edges.
#include "tools/sinter/report/StepFlow.h"

#include <algorithm>
#include <limits>
#include <map>

namespace sinter::cli {

using namespace runtime;

/// Of a buffer that the body of a loop writes: others that are written with it.
using Together = std::multimap<uint32_t, uint32_t>;

static StepFlow flowOfLoop(const LoopData &loop, Together &together) {
  StepFlow flow;
  for (const LoopData::Carry &each : loop.carries) {
    flow.reads.push_back(each.init);
    flow.writes.push_back(each.carry);
    together.emplace(each.next, each.result);
  }
  for (const LoopData::Slice &each : loop.slices) {
    flow.reads.push_back(each.whole);
    flow.writes.push_back(each.slice);
    together.emplace(each.slice, each.whole);
  }
  return flow;
}

static StepFlow flowOfLaunch(const StepData &step, const KernelData &kernel,
                             const Together &together) {
  StepFlow flow;
  size_t written = size_t(kernel.numInputs) + kernel.numOutputs;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    uint32_t buffer = step.buffers[i];
    if (i < kernel.numInputs)
      flow.reads.push_back(buffer);
    else if (i < written)
      flow.writes.push_back(buffer);
    else
      flow.workspaces.push_back(buffer);
  }
  for (size_t i = 0; i < flow.writes.size(); ++i) {
    auto [first, last] = together.equal_range(flow.writes[i]);
    for (; first != last; ++first)
      if (std::ranges::find(flow.writes, first->second) == flow.writes.end())
        flow.writes.push_back(first->second);
  }
  return flow;
}

std::vector<StepFlow> flowOf(const ProgramData &program) {
  std::vector<StepFlow> flows;
  Together together; // of the loops so far, which stand before their bodies
  for (const StepData &step : program.steps) {
    if (step.isLoop())
      flows.push_back(flowOfLoop(program.loops[step.loop], together));
    else if (step.isCopy)
      flows.push_back({{step.buffers[0]}, {step.buffers[1]}, {}});
    else
      flows.push_back(
          flowOfLaunch(step, program.kernels[step.kernel], together));
  }
  return flows;
}

std::vector<FlowEdge> flowEdges(const std::vector<StepFlow> &flows) {
  std::vector<FlowEdge> edges;
  std::map<uint32_t, uint32_t> writers;
  for (uint32_t step = 0; step < flows.size(); ++step) {
    for (uint32_t buffer : flows[step].reads)
      if (auto writer = writers.find(buffer); writer != writers.end())
        edges.push_back({writer->second, step, buffer});
    for (uint32_t buffer : flows[step].writes)
      writers[buffer] = step;
  }
  return edges;
}

int64_t timesOfStep(const ProgramData &program, const BoundPlan &plan,
                    uint32_t step) {
  int64_t times = 1;
  for (const LoopData &loop : program.loops)
    if (loop.holds(step) &&
        __builtin_mul_overflow(times, plan.values[loop.count], &times))
      return std::numeric_limits<int64_t>::max();
  return times;
}

} // namespace sinter::cli
